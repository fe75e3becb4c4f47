#include "tests/golden/golden.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/paths.h"

namespace recut::test {
namespace {

constexpr std::string_view kRun = "; run: ";
constexpr std::string_view kExpect = "; expect:";

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(std::string(RECUT_SOURCE_DIR "/") + path);
  REQUIRE(file.good());
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// "; text" to "text"; an empty line is ";".
std::string uncommented(const std::string& line) {
  return line.substr(std::min<std::size_t>(2, line.size()));
}

}  // namespace

std::vector<std::string> golden_paths() {
  const std::filesystem::path top = RECUT_SOURCE_DIR;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(top / "tests/golden"))
    if (entry.path().extension() == ".recut")
      paths.push_back(entry.path().lexically_relative(top).generic_string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

Golden read_golden(const std::string& path) {
  Golden golden;
  golden.path = path;
  bool in_expected = false;
  for (const std::string& line : lines_of(path)) {
    if (line == kExpect) {
      in_expected = true;
    } else if (in_expected) {
      golden.expected += uncommented(line) + "\n";
    } else {
      golden.input += line + "\n";
      if (line.rfind(kRun, 0) == 0) golden.words = words_of(line.substr(kRun.size()));
    }
  }
  INFO(path);
  REQUIRE_FALSE(golden.words.empty());
  return golden;
}

void bless(const Golden& golden, std::string_view output) {
  std::ofstream file(std::string(RECUT_SOURCE_DIR "/") + golden.path);
  file << golden.input << kExpect << "\n";
  std::istringstream lines{std::string(output)};
  for (std::string line; std::getline(lines, line);)
    file << (line.empty() ? ";" : "; " + line) << "\n";
  REQUIRE(file.good());
}

bool blessing() {
  const char* value = std::getenv("RECUT_BLESS");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace recut::test

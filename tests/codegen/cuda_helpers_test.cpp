// Functions at the head of CUDA text (engine/codegen/cuda/helpers.h), and the files that they are
// written in: what stands there is CUDA by itself, for tools.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "engine/codegen/cuda/helpers.h"
#include "tests/codegen/cuda_on_cpu.h"
#include "tests/paths.h"

namespace recut {
namespace {

using cuda::Helper;

std::vector<std::string> device_files() {
  std::vector<std::string> files;
  const std::string folder = "engine/codegen/cuda/device/";
  for (const auto& entry : std::filesystem::directory_iterator(RECUT_SOURCE_DIR "/" + folder))
    files.push_back(folder + entry.path().filename().string());
  std::sort(files.begin(), files.end());
  return files;
}

// A file with those that it includes, each once.
std::string whole_text(const std::string& file, std::set<std::string>& seen) {
  if (!seen.insert(file).second) return "";
  std::ifstream stream(RECUT_SOURCE_DIR "/" + file);
  const std::string include = "#include \"";
  std::string text;
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with(include))
      text += whole_text(line.substr(include.size(), line.size() - include.size() - 1), seen);
    else if (line != "#pragma once")
      text += line + '\n';
  return text;
}

std::string text_with_all_it_uses(const Helper& helper) {
  cuda::Helpers alone;
  alone.use(std::string(helper.name));
  return alone.text();
}

// One text of several that know nothing of each other.
std::string side_by_side(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts)
    all += "namespace alone_" + std::to_string(all.size()) + " {\n" + text + "}\n";
  return all;
}

TEST_CASE("CUDA: each file of helpers is a text, and each helper with what it uses", "[codegen]") {
  if (!test::has_compiler()) SKIP("no c++ in the path: nothing compiles CUDA for the processor");
  std::vector<std::string> files = device_files();
  REQUIRE(files.size() > 8);
  files.emplace_back("native/cuda/calibration.cuh");
  std::vector<std::string> texts;
  for (const std::string& file : files) {
    std::set<std::string> seen;
    texts.push_back(whole_text(file, seen));
    REQUIRE(texts.back().size() > 100);
  }
  for (const Helper& helper : cuda::all_helpers()) texts.push_back(text_with_all_it_uses(helper));
  CHECK(test::cuda_compile_errors(side_by_side(texts)) == "");
}

// A compiler asks for what templates call only where it makes functions of them.
TEST_CASE("CUDA: helpers use what they call", "[codegen]") {
  for (const Helper& helper : cuda::all_helpers()) {
    const std::string text(helper.text), with_all = text_with_all_it_uses(helper);
    const std::regex call("(\\w+)[<(]");
    std::set<std::string> called;
    for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at)
      called.insert((*at)[1]);
    for (const Helper& other : cuda::all_helpers()) {
      INFO(helper.name << " calls " << other.name);
      if (called.contains(std::string(other.name)))
        CHECK(with_all.find(other.text) != std::string::npos);
    }
  }
}

TEST_CASE("CUDA: helpers stand in a text once, behind what they use", "[codegen]") {
  cuda::Helpers helpers;
  CHECK(helpers.text() == "");
  CHECK(helpers.use("quotient") == "quotient");
  helpers.use("plus");
  helpers.use("quotient");
  const auto place = [text = helpers.text()](const char* what) { return text.find(what); };
  CHECK(place("int plus(") < place("int minus("));
  CHECK(place("int minus(") < place("T quotient("));
  CHECK(place("T quotient(") != std::string::npos);
  CHECK(place("int minus(") == helpers.text().rfind("int minus("));
  CHECK(place("//:") == std::string::npos);
}

}  // namespace
}  // namespace recut

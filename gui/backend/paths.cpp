#include "gui/backend/paths.h"

#include <algorithm>

namespace recut::gui {
namespace {

bool is_digit_of_copy(char c) { return c >= '0' && c <= '9'; }

// The file name without the " (1)" of a second copy and without ".gz".
std::string plain_name(std::string_view path) {
  std::string name = file_name(path);
  const std::size_t open = name.rfind('('), close = name.find(')', open);
  if (open != std::string::npos && close != std::string::npos && close > open + 1 &&
      std::all_of(name.begin() + static_cast<std::ptrdiff_t>(open) + 1,
                  name.begin() + static_cast<std::ptrdiff_t>(close), is_digit_of_copy)) {
    name.erase(open, close - open + 1);
    if (open > 0 && name[open - 1] == ' ') name.erase(open - 1, 1);
  }
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name;
}

}  // namespace

bool is_readable_name(std::string_view path) {
  for (const std::string_view ending : {".json", ".gz", ".recut", ".pt2", ".onnx", ".rules",
                                        ".safetensors", ".pickle", ".log", ".txt"})
    if (path.ends_with(ending)) return true;
  return false;
}

bool is_same_file(std::string_view a, std::string_view b) { return plain_name(a) == plain_name(b); }

std::string plain_name(std::string name) {
  for (char& c : name) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '.';
    if (!good) c = '_';
  }
  constexpr std::size_t kLongest = 100;
  return name.substr(0, kLongest);
}

}  // namespace recut::gui

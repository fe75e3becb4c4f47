#include "gui/backend/backend.h"

#include <fmt/core.h>

#include <algorithm>

namespace recut::gui {
namespace {

// As a shell takes it for one word.
std::string shell_word(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-").find(c) != std::string_view::npos;
  });
  return plain ? name : '"' + name + '"';
}

}  // namespace

std::optional<Result<GraphFile>> Backend::read_model(const std::string& path, const std::string&,
                                                     const Dimensions&) {
  constexpr std::string_view ending = ".onnx";
  if (!path.ends_with(ending)) return std::nullopt;
  const std::string name = file_name(path), stem = name.substr(0, name.size() - ending.size());
  return Diagnostic{
      fmt::format("ONNX models are read by the desktop's window and by the command, which makes a "
                  ".recut file of one that opens here: `recut import {} --out {}`; --dim "
                  "batch=1 gives a size to a dimension that the model leaves open",
                  shell_word(name), shell_word(stem + ".recut")),
      path, 0, 0};
}

}  // namespace recut::gui

#include "gui/backend/backend.h"

namespace recut::gui {

std::optional<Result<GraphFile>> Backend::read_model(const std::string& path, const std::string&) {
  constexpr std::string_view ending = ".onnx";
  if (path.size() < ending.size() || path.substr(path.size() - ending.size()) != ending)
    return std::nullopt;
  return Diagnostic{
      "ONNX models are read by the desktop's window and by the command: `recut import` makes a "
      ".recut file of one, which opens here",
      path, 0, 0};
}

}  // namespace recut::gui

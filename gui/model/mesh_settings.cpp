#include "gui/model/mesh_settings.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/mesh/device_mesh.h"
#include "engine/mesh/spmd/presets.h"

namespace recut::gui {

Result<MeshSettings> read_mesh(std::string_view text) {
  const std::size_t space = std::min(text.find(' '), text.size());
  MeshSettings settings{std::string(text.substr(0, space)), {}};
  if (space < text.size()) settings.preset = text.substr(space + 1);
  const auto mesh = mesh::DeviceMesh::parse(settings.axes);
  if (!mesh) return error("mesh: " + mesh.diagnostics().front().message);
  if (mesh->size() > kMaxMeshRanks)
    return error(fmt::format("mesh: {} has {} ranks, expected at most {} here", settings.axes,
                             mesh->size(), kMaxMeshRanks));
  if (settings.preset.empty()) return settings;
  const auto styles = mesh::parse_styles(settings.preset, *mesh);
  if (!styles) return error("preset: " + styles.diagnostics().front().message);
  return settings;
}

std::string write_mesh(const MeshSettings& mesh) {
  return mesh.preset.empty() ? mesh.axes : fmt::format("{} {}", mesh.axes, mesh.preset);
}

std::vector<MeshAxisChoice> axis_choices(const MeshSettings& mesh) {
  const auto parsed = mesh::DeviceMesh::parse(mesh.axes);
  if (!parsed) return {};
  std::vector<MeshAxisChoice> choices;
  for (const auto& axis : parsed->axes()) choices.push_back({axis.name, axis.size, "none"});
  for (std::size_t at = 0; at < mesh.preset.size();) {
    const std::size_t end = std::min(mesh.preset.find(',', at), mesh.preset.size());
    const std::string pair = mesh.preset.substr(at, end - at);
    const std::size_t equals = std::min(pair.find('='), pair.size() - 1);
    for (MeshAxisChoice& choice : choices)
      if (choice.name == pair.substr(0, equals)) choice.style = pair.substr(equals + 1);
    at = end + 1;
  }
  return choices;
}

MeshSettings mesh_of_axes(const std::vector<MeshAxisChoice>& axes) {
  MeshSettings mesh;
  for (const MeshAxisChoice& axis : axes) {
    mesh.axes += fmt::format("{}{}={}", mesh.axes.empty() ? "" : ",", axis.name, axis.size);
    if (axis.style != "none")
      mesh.preset += fmt::format("{}{}={}", mesh.preset.empty() ? "" : ",", axis.name, axis.style);
  }
  return mesh;
}

MeshRequest request_of(const MeshSettings& mesh) {
  MeshRequest request;
  request.mesh = mesh.axes;
  request.preset = mesh.preset;
  return request;
}

}  // namespace recut::gui

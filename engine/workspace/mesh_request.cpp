#include "engine/workspace/mesh_request.h"

#include <fmt/format.h>

#include "engine/mesh/spmd/presets.h"

namespace recut {

Result<mesh::DistributedModule> place_on_mesh(const Graph& graph, const MeshRequest& request) {
  const auto mesh = mesh::DeviceMesh::parse(request.mesh);
  if (!mesh) return error("mesh: " + mesh.diagnostics().front().message);
  if (!mesh->position_of(request.rank))
    return error(fmt::format("the mesh {} has no rank {}, expected 0 … {}", request.mesh,
                             request.rank, mesh->size() - 1));
  if (!request.preset.empty() && !request.placements.empty())
    return error("a preset and a placement file are given, expected one of them");
  std::string text = request.placements;
  if (!request.preset.empty()) {
    const auto styles = mesh::parse_styles(request.preset, *mesh);
    if (!styles) return error("preset: " + styles.diagnostics().front().message);
    text = mesh::preset_placements(graph, *styles);
  }
  mesh::DistributedModule module(graph, *mesh);
  if (!text.empty())
    if (const auto placed = module.place(text, request.placements_name); !placed)
      return placed.diagnostics();
  return module;
}

}  // namespace recut

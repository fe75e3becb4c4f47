#include "engine/workspace/sharded_document.h"

#include <fmt/format.h>

#include <utility>

#include "engine/mesh/spmd/spmd_graph.h"
#include "engine/workspace/open_document.h"

namespace recut {

Result<Document> shard_document(const Document& document, const MeshRequest& request,
                                std::string_view file_name) {
  const auto module = place_on_mesh(document.graph(), request);
  if (!module) return module.diagnostics();
  const auto sharded = mesh::shard(*module);
  if (!sharded) return sharded.diagnostics();
  const std::int64_t position = *module->mesh().position_of(request.rank);
  auto spmd = mesh::spmd_graph(*module, *sharded, position);
  if (!spmd) return spmd.diagnostics();
  GraphFile file = document.file;
  file.graph = std::move(spmd->graph);
  file.partitions.clear();
  file.partitioned.reset();
  file.tensors.clear();
  file.storage.reset();
  OpenOptions options;
  options.passes.emplace();
  return open_document_graph(std::move(file), file_name, options);
}

std::string mesh_note(const MeshRequest& request) {
  const auto mesh = mesh::DeviceMesh::parse(request.mesh);
  if (!mesh) return {};
  if (request.rank != 0) return fmt::format("rank {} of {}", request.rank, format(*mesh));
  return fmt::format(
      "rank 0 of {}: of {} ranks it has the largest parts, so that a plan of it "
      "holds on all",
      format(*mesh), mesh->size());
}

}  // namespace recut

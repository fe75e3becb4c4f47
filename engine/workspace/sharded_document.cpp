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
  return shard_document(document, *module, *sharded, *module->mesh().position_of(request.rank),
                        file_name);
}

Result<Document> shard_document(const Document& document, const mesh::DistributedModule& module,
                                const mesh::ShardedGraph& sharded, std::int64_t position,
                                std::string_view file_name) {
  auto spmd = mesh::spmd_graph(module, sharded, position);
  if (!spmd) return spmd.diagnostics();
  return document_of(document, std::move(spmd->graph), file_name);
}

Result<Document> document_of(const Document& whole, Graph rank, std::string_view file_name) {
  GraphFile file = whole.file;
  file.graph = std::move(rank);
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
  const char* const largest =
      request.rank == 0 ? ", which has the largest part of every value" : "";
  return fmt::format("rank {} of the {} of {}{}", request.rank, mesh->size(), format(*mesh),
                     largest);
}

}  // namespace recut

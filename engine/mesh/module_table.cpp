// The table of a distributed module.
#include <fmt/format.h>

#include "engine/mesh/distributed_module.h"
#include "engine/mesh/sharding_text.h"
#include "engine/support/table.h"
#include "engine/support/text.h"
#include "engine/support/units.h"

namespace recut::mesh {
namespace {

// "[4, 3] 48 B" on all ranks, or "0-2: [4, 3] 48 B, 3: [1, 3] 12 B".
std::string held_by_ranks(const TensorType& type, const Sharding& sharding,
                          const DeviceMesh& mesh) {
  const auto shape_at = [&](std::int64_t position) {
    return local_block(type.shape, sharding, mesh, mesh.coordinate_at(position)).shape;
  };
  std::string text;
  for (std::int64_t first = 0, last = 0; first < mesh.size(); first = last + 1) {
    const Shape shape = shape_at(first);
    for (last = first; last + 1 < mesh.size() && shape_at(last + 1) == shape;) ++last;
    if (!text.empty()) text += ", ";
    if (first > 0 || last + 1 < mesh.size())
      text += first == last ? fmt::format("{}: ", first) : fmt::format("{}-{}: ", first, last);
    text += fmt::format("{} {}", format_shape(shape),
                        format_bytes(element_count(shape) * item_bytes(type.dtype)));
  }
  return text;
}

}  // namespace

std::string format(const DistributedModule& module) {
  const Graph& graph = module.graph();
  const DeviceMesh& mesh = module.mesh();
  Table table;
  for (const char* title : {"value", "type", "placements", "of each rank"}) table.column(title);
  const auto row = [&](NodeId id, const Sharding& sharding) {
    const TensorType& type = graph.type(id);
    table.row({printable(graph.node_name(id)), format(type), format(sharding, mesh),
               held_by_ranks(type, sharding, mesh)});
  };
  std::int64_t bytes = 0;
  for (const NodeId id : module.inputs()) {
    row(id, module.of_input(id));
    bytes += largest_local_bytes(graph.type(id), module.of_input(id), mesh);
  }
  for (std::size_t i = 0; i < graph.results.size(); ++i)
    if (graph.results[i].valid()) row(graph.results[i], module.of_results()[i]);
  return fmt::format("mesh {}\n{}inputs of rank {}: {}\n", format(mesh), table.format(),
                     mesh.ranks().front(), format_bytes(bytes));
}

}  // namespace recut::mesh

#include "engine/workspace/library_workspaces.h"

#include "engine/cost/measured_kernels.h"

namespace recut {

Graph& planned_graph(Document& document) {
  return document.passes.passes.empty() ? document.passes.input
                                        : document.passes.passes.back().graph;
}

Result<Done> add_library_workspaces(Document& document, const DeviceProfile& profile,
                                    std::int64_t max_bytes) {
  Graph& graph = planned_graph(document);
  if (profile.measured == nullptr || !profile.measured->is_of(graph)) return Done{};
  auto measured = with_workspaces(*profile.measured, graph, max_bytes);
  if (!measured) return measured.diagnostics();
  graph.measured = std::move(*measured);
  return Done{};
}

}  // namespace recut

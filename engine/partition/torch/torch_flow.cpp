#include "engine/partition/torch_flow.h"

#include "engine/ir/rebuild.h"
#include "engine/partition/torch/cut.h"

namespace recut {

// Removes dead nodes first, as the strategy does. Both graphs share their node ids.
Result<TorchFlow> trace_torch_flow(const Graph& whole, const TorchOptions& options,
                                   std::size_t max_paths) {
  const Graph graph = without_dead_nodes(whole);
  const torch::Analysis analysis(graph, options);
  if (!analysis.classes().any_backward)
    return error("expected a graph with a backward; found none, so that there is nothing to cut");
  auto outcome = torch::trace_cut(analysis, torch::cut_options(options), max_paths);
  if (std::holds_alternative<torch::InfiniteCut>(outcome))
    return error("backward needs a value that may neither be recomputed nor saved: no cut");
  return std::get<TorchFlow>(std::move(outcome));
}

}  // namespace recut

// Strategy `default`: forward and backward as they stand in the graph, nothing computed twice
// (torch/_functorch/partitioners.py, default_partition).
#include <algorithm>

#include "engine/ir/data_flow.h"
#include "engine/partition/classify.h"
#include "engine/partition/plan_from_saved.h"
#include "engine/partition/strategies.h"

namespace recut {
namespace {

// Forward reaches to the last node that a result needs, and takes in everything before it. PyTorch
// tags each node with its pass instead.
std::vector<bool> forward_by_position(const JointClasses& classes) {
  const auto last = std::find(classes.forward.rbegin(), classes.forward.rend(), true);
  std::vector<bool> forward(classes.forward.size(), false);
  for (auto p = static_cast<std::size_t>(classes.forward.rend() - last); p-- > 0;)
    forward[p] = !classes.tangent_closure[p];
  return forward;
}

}  // namespace

Result<PlanOutcome> plan_default(const Graph& graph, const PlanRequest& request) {
  if (!std::holds_alternative<NoBudget>(request.budget))
    return error("strategy 'default' takes no budget: it saves everything that backward reads");
  if (!is_joint(graph))
    return PlanOutcome{plan_from_saved(graph, {}), {"every call runs once, in program order"}, {}};
  const Users users(graph);
  const JointClasses classes(graph, users);
  const std::vector<bool> forward = forward_by_position(classes);
  std::vector<NodeId> saved;
  for (std::size_t p = 0; p < forward.size(); ++p) {
    const NodeId id = graph.order()[p];
    // A call with several outputs is saved by the outputs that are used.
    if (!forward[p] || graph.op(id).multiple_outputs()) continue;
    const auto used = users.of(id);
    if (classes.backward[p] || std::any_of(used.begin(), used.end(), [&](NodeId user) {
          return !forward[graph.position(user)];
        }))
      saved.push_back(id);
  }
  return PlanOutcome{
      plan_from_saved(graph, saved), {"everything that backward reads is saved"}, {}};
}

}  // namespace recut

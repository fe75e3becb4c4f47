#include "engine/partition/overrides.h"

#include "engine/ir/aliases.h"
#include "engine/ir/data_flow.h"

namespace recut {

OverrideRules::OverrideRules(const Graph& graph)
    : graph_(graph),
      joint_(is_joint(graph)),
      needs_tangent_(needs_tangent(graph)),
      forward_(forward_nodes(graph)),
      result_(graph.order().size(), false),
      read_in_backward_(graph.order().size(), false) {
  for (const NodeId id : graph.results)
    if (id.valid()) result_[graph.position(defining_node(graph, id))] = true;
  const std::vector<bool> needed = live_nodes(graph);
  for (std::size_t p = 0; p < forward_.size(); ++p)
    for (const NodeId operand : graph[graph.order()[p]].operands)
      if (needed[p] && !forward_[p])
        read_in_backward_[graph.position(defining_node(graph, operand))] = true;
}

std::string_view OverrideRules::why_not_overridable(NodeId source) const {
  if (!joint_) return "is of a forward graph: there is no backward to keep a value for";
  if (graph_.op(source).is(kInput))
    return "is an input, or a view of one: it is there all along and costs nothing";
  const std::size_t p = graph_.position(source);
  if (needs_tangent_[p]) return "needs a tangent: it runs in backward alone";
  if (!forward_[p]) return "is nothing that forward needs: it runs in backward alone";
  return {};
}

std::string_view OverrideRules::why_not_saved(NodeId id) const {
  return why_not_overridable(defining_node(graph_, id));
}

std::string_view OverrideRules::why_not_recomputed(NodeId id) const {
  if (const std::string_view why = why_not_run_again(id); !why.empty()) return why;
  if (!read_in_backward_[graph_.position(defining_node(graph_, id))])
    return "is read by nothing in backward";
  return {};
}

std::string_view OverrideRules::why_not_run_again(NodeId id) const {
  const NodeId source = defining_node(graph_, id);
  if (const std::string_view why = why_not_overridable(source); !why.empty()) return why;
  const std::size_t p = graph_.position(source);
  if (draws_anew(graph_.op(source)))
    return "draws random numbers: a second run would draw others, so it is saved";
  if (result_[p]) return "is a result of forward, or what one is a view of: it stays alive anyway";
  return {};
}

}  // namespace recut

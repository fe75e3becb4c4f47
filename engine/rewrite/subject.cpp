#include "engine/rewrite/subject.h"

#include "engine/ir/data_flow.h"

namespace recut {
namespace {

// Chains of views and arithmetic on one number are short.
constexpr int kMaxSplatDepth = 16;

}  // namespace

Subject::Subject(const Graph& graph)
    : graph_(graph),
      alive_(live_nodes(graph)),
      outputs_(graph.order().size()),
      pinned_(graph),
      splats_(graph.pool()),
      types_of_([this](NodeId id) { return graph_.pool().types_of(id); }),
      splat_of_([this](NodeId id) { return splat(id); }) {
  const auto goes_out = [&](NodeId id) {
    if (id.valid()) ++outputs_[graph.position(id)];
  };
  for (const NodeId id : graph.results) goes_out(id);
  for (const NodeId id : graph.gradients) goes_out(id);
  for (const NodeId id : graph.order())
    if (graph[id].op == Op::getitem && is_external(graph[graph[id].operands.front()].op))
      alive_[graph.position(id)] = true;
  count_users();
}

// Compressed rows: a node's users stand from first_[position] to first_[position + 1].
void Subject::count_users() {
  const auto order = graph_.order();
  first_.assign(order.size() + 1, 0);
  const auto each_use = [&](auto&& visit) {
    for (std::size_t p = 0; p < order.size(); ++p)
      if (alive_[p])
        for (const NodeId operand : graph_[order[p]].operands)
          visit(graph_.position(operand), order[p]);
  };
  each_use([&](std::size_t operand, NodeId) { ++first_[operand + 1]; });
  for (std::size_t p = 0; p < order.size(); ++p) first_[p + 1] += first_[p];
  users_.resize(first_.back());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  each_use([&](std::size_t operand, NodeId user) { users_[next[operand]++] = user; });
}

std::span<const NodeId> Subject::users(NodeId id) const {
  const std::size_t p = graph_.position(id);
  return std::span(users_).subspan(first_[p], first_[p + 1] - first_[p]);
}

const SplatValue* Subject::splat(NodeId id) {
  analyze(id, kMaxSplatDepth);
  return splats_.of(id);
}

// Analyses operands first. A value whose operands lie too deep stays unknown and is tried again on
// the next query.
void Subject::analyze(NodeId id, int depth) {
  if (depth == 0 || analyzed_.count(id) != 0) return;
  for (const NodeId operand : graph_[id].operands) analyze(operand, depth - 1);
  splats_.analyze(id);
  analyzed_.insert(id);
}

}  // namespace recut

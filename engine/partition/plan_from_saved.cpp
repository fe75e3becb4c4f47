// A plan from a set of saved values. Forward runs the calls that results and saved values need.
// Backward runs the calls that gradients need beyond the saved values: a backward slice that stops
// at saved nodes. Calls that need a tangent keep the graph's order; each recomputed call runs just
// before its first use, so its value lives as short as possible. A random call that both passes
// need is saved, until none is left, because it can't run twice. Cost: O(nodes + edges) for each
// round of random calls.
#include "engine/partition/plan_from_saved.h"

#include <algorithm>

#include "engine/ir/data_flow.h"

namespace recut {
namespace {

// The nodes that some goals need when the values of others are available already.
class Closure {
 public:
  // The search stops at `given` (by position) and at inputs; inputs are no part of the result.
  Closure(const Graph& graph, const std::vector<bool>& given)
      : graph_(graph), given_(given), needed_(graph.order().size(), false) {}

  void need(NodeId goal) {
    std::vector<NodeId> stack{goal};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      const std::size_t p = graph_.position(id);
      if (needed_[p] || graph_.op(id).is(kInput)) continue;
      needed_[p] = true;
      if (given_[p]) continue;
      stack.insert(stack.end(), graph_[id].operands.begin(), graph_[id].operands.end());
    }
  }

  // A node that is needed, and one that has to run for it: a given one is needed but doesn't run.
  bool needs(std::size_t position) const { return needed_[position]; }
  bool runs(std::size_t position) const { return needed_[position] && !given_[position]; }

 private:
  const Graph& graph_;
  const std::vector<bool>& given_;
  std::vector<bool> needed_;
};

// The nodes that forward and backward need for a set of saved values, by position.
class RequiredNodes {
 public:
  RequiredNodes(const Graph& graph, const std::vector<bool>& saved)
      : nothing_(graph.order().size(), false), forward_(graph, nothing_), backward_(graph, saved) {
    for (const NodeId id : graph.results)
      if (id.valid()) forward_.need(id);
    const std::vector<bool> late = needs_tangent(graph);
    for (const NodeId id : unread_external_calls(graph))
      (late[graph.position(id)] ? backward_ : forward_).need(id);
    for (const NodeId id : graph.gradients)
      if (id.valid()) backward_.need(id);
    for (std::size_t p = 0; p < saved.size(); ++p)
      if (saved[p] && backward_.needs(p)) forward_.need(graph.order()[p]);
  }

  const Closure& forward() const { return forward_; }
  const Closure& backward() const { return backward_; }

 private:
  std::vector<bool> nothing_;
  Closure forward_, backward_;
};

// Saves the calls that both forward and backward would run and that must not silently run twice:
// random, external and collective ones. True if it found one. A call with several outputs is saved
// by those outputs that backward reads.
bool save_calls_that_run_once(const Graph& graph, const RequiredNodes& passes,
                              std::vector<bool>& saved) {
  bool changed = false;
  for (std::size_t p = 0; p < saved.size(); ++p) {
    const NodeId id = graph.order()[p];
    const NodeId once = graph[id].op == Op::getitem ? graph[id].operands.front() : id;
    if (!graph.op(once).is(kImpure | kCollective) ||
        (once == id && graph.op(once).multiple_outputs()))
      continue;
    if (!passes.forward().runs(graph.position(once)) || !passes.backward().runs(p)) continue;
    saved[p] = true;
    changed = true;
  }
  return changed;
}

// The order of backward: nodes that need a tangent stay in the graph's order, every other node
// moves to just before its first use. A recomputed value thus lives as short as possible.
class JustInTimeOrder {
 public:
  JustInTimeOrder(const Graph& graph, const Closure& backward,
                  const std::vector<bool>& needs_tangent_at)
      : graph_(graph), pending_(graph.order().size(), false) {
    for (std::size_t p = 0; p < pending_.size(); ++p)
      pending_[p] = backward.runs(p) && !needs_tangent_at[p];
    for (std::size_t p = 0; p < pending_.size(); ++p) {
      if (!backward.runs(p) || !needs_tangent_at[p]) continue;
      const NodeId id = graph.order()[p];
      for (const NodeId operand : graph[id].operands) append_with_operands(operand);
      order_.push_back(id);
    }
    // The remaining nodes are gradients that need no tangent.
    for (std::size_t p = 0; p < pending_.size(); ++p) append_with_operands(graph.order()[p]);
  }

  std::vector<NodeId> take() { return std::move(order_); }

 private:
  // Depth first, operands in order, without recursion: graphs are deeper than stacks.
  void append_with_operands(NodeId goal) {
    struct Visit {
      NodeId id;
      bool operands_done;
    };
    std::vector<Visit> stack{{goal, false}};
    while (!stack.empty()) {
      const Visit visit = stack.back();
      stack.pop_back();
      const std::size_t p = graph_.position(visit.id);
      if (!pending_[p]) continue;
      if (visit.operands_done) {
        pending_[p] = false;
        order_.push_back(visit.id);
        continue;
      }
      stack.push_back({visit.id, true});
      const std::vector<NodeId>& operands = graph_[visit.id].operands;
      for (auto it = operands.rbegin(); it != operands.rend(); ++it)
        if (pending_[graph_.position(*it)]) stack.push_back({*it, false});
    }
  }

  const Graph& graph_;
  std::vector<bool> pending_;  // by position: has to run, isn't ordered yet
  std::vector<NodeId> order_;
};

}  // namespace

Plan plan_from_saved(const Graph& graph, const std::vector<NodeId>& requested) {
  std::vector<bool> saved(graph.order().size(), false);
  for (const NodeId id : requested)
    if (!graph.op(id).is(kInput)) saved[graph.position(id)] = true;
  while (save_calls_that_run_once(graph, RequiredNodes(graph, saved), saved)) {
  }

  const RequiredNodes passes(graph, saved);
  Plan plan;
  for (std::size_t p = 0; p < saved.size(); ++p) {
    const NodeId id = graph.order()[p];
    if (passes.forward().runs(p)) plan.forward.push_back(id);
    if (saved[p] && passes.backward().needs(p)) plan.saved.push_back(id);
  }
  plan.backward = JustInTimeOrder(graph, passes.backward(), needs_tangent(graph)).take();
  return plan;
}

Plan plan_of(const Graph& graph, const TorchPartition& partition) {
  std::vector<NodeId> saved;
  for (const std::string& name : partition.saved)
    if (const NodeId id = graph.find(name); id.valid()) saved.push_back(id);
  return plan_from_saved(graph, saved);
}

}  // namespace recut

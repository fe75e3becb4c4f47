// Validates a plan and computes last uses (steps.h) in one pass over its steps, O(steps +
// operands). A step uses the latest run of each operand; at the boundary, everything that is
// neither saved nor an input becomes unavailable.
#include "engine/eval/steps.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::size_t kNever = static_cast<std::size_t>(-1);

class StepsBuilder {
 public:
  StepsBuilder(const Graph& graph, const Plan& plan, bool has_boundary)
      : graph_(graph),
        plan_(plan),
        split_(plan.forward.size()),
        end_(split_ + plan.backward.size()),
        has_boundary_(has_boundary),
        defined_at_(graph.order().size(), kNever),
        available_(graph.order().size(), false),
        ran_(graph.order().size(), false),
        last_use_(end_, kNever) {}

  Result<EvaluationSteps> run() {
    for (const NodeId id : graph_.order())
      if (graph_.op(id).is(kInput)) available_[at(id)] = !has_boundary_ || !is_tangent(id);
    for (std::size_t t = 0; t < end_; ++t) {
      if (t == split_ && has_boundary_) cross_boundary();
      run_step(t, t < split_ ? plan_.forward[t] : plan_.backward[t - split_]);
    }
    if (split_ == end_ && has_boundary_) cross_boundary();
    if (!has_boundary_) return_values(graph_.results, "result");
    return_values(graph_.gradients, "gradient");
    if (!wrong_.empty()) return std::move(wrong_);
    return collect();
  }

 private:
  std::size_t at(NodeId id) const { return graph_.position(id); }
  bool is_tangent(NodeId id) const {
    return graph_[id].op == Op::placeholder && graph_.input_kind(id) == InputKind::tangent;
  }
  std::string name(NodeId id) const { return quote(graph_.node_name(id)); }

  void report_error(std::string message) {
    constexpr std::size_t kShown = 20;
    if (wrong_.size() < kShown) wrong_.push_back(error("plan: " + std::move(message)));
  }

  // Records that step `t` uses the node's current value.
  void use(NodeId id, std::size_t t) {
    if (graph_.op(id).is(kInput) || defined_at_[at(id)] == kNever) return;
    std::size_t& last = last_use_[defined_at_[at(id)]];
    last = last == kNever ? t : std::max(last, t);
  }

  void run_step(std::size_t t, NodeId id) {
    const std::string_view phase = t < split_ ? "forward" : "backward";
    if (!graph_.contains(id))
      return report_error(fmt::format("{} runs a node that is not in the graph", phase));
    if (graph_.op(id).is(kInput))
      return report_error(fmt::format("{} runs {}, which comes from outside", phase, name(id)));
    if (draws_anew(graph_.op(id)) && ran_[at(id)])
      report_error(fmt::format("{} runs {} again, but {} draws anew each time", phase, name(id),
                               graph_.op(id).name));
    for (const NodeId operand : graph_[id].operands) {
      if (!available_[at(operand)])
        report_error(fmt::format("{} runs {}, but its operand {} is not there", phase, name(id),
                                 name(operand)));
      use(operand, t);
    }
    defined_at_[at(id)] = t;
    last_use_[t] = t;
    available_[at(id)] = ran_[at(id)] = true;
  }

  void cross_boundary() {
    std::vector<bool> kept(graph_.order().size(), false);
    for (const NodeId id : graph_.order()) kept[at(id)] = graph_.op(id).is(kInput);
    for (const NodeId id : plan_.saved) {
      if (!graph_.contains(id) || !available_[at(id)]) {
        report_error(fmt::format("{} is saved, but forward doesn't compute it",
                                 graph_.contains(id) ? name(id) : "a node outside the graph"));
        continue;
      }
      kept[at(id)] = true;
      use(id, split_);
    }
    return_values(graph_.results, "result");
    available_ = std::move(kept);
  }

  void return_values(const std::vector<NodeId>& ids, std::string_view what) {
    for (const NodeId id : ids) {
      if (!id.valid()) continue;
      if (!available_[at(id)])
        report_error(fmt::format("the {} {} is never computed", what, name(id)));
      use(id, end_);
    }
  }

  EvaluationSteps collect() const {
    EvaluationSteps steps;
    steps.boundary = has_boundary_ ? split_ : end_;
    steps.steps.resize(end_);
    for (std::size_t t = 0; t < end_; ++t)
      steps.steps[t].node = t < split_ ? plan_.forward[t] : plan_.backward[t - split_];
    for (std::size_t t = 0; t < end_; ++t)
      if (last_use_[t] < end_)
        steps.steps[last_use_[t]].last_uses.push_back({steps.steps[t].node, t});
    return steps;
  }

  const Graph& graph_;
  const Plan& plan_;
  std::size_t split_, end_;
  bool has_boundary_;
  std::vector<std::size_t> defined_at_;  // by position: the step of the node's latest run
  std::vector<bool> available_;          // by position
  std::vector<bool> ran_;                // by position
  std::vector<std::size_t> last_use_;    // by step: when the value that it made is used last
  Diagnostics wrong_;
};

std::vector<NodeId> needed_calls(const Graph& graph) {
  std::vector<bool> needed(graph.order().size(), false);
  for (const auto* outputs : {&graph.results, &graph.gradients})
    for (const NodeId id : *outputs)
      if (id.valid()) needed[graph.position(id)] = true;
  std::vector<NodeId> calls;
  for (std::size_t p = graph.order().size(); p-- > 0;) {
    const NodeId id = graph.order()[p];
    if (!needed[p]) continue;
    for (const NodeId operand : graph[id].operands) needed[graph.position(operand)] = true;
    if (!graph.op(id).is(kInput)) calls.push_back(id);
  }
  std::reverse(calls.begin(), calls.end());
  return calls;
}

}  // namespace

EvaluationSteps build_steps(const Graph& graph) {
  const Plan plan{needed_calls(graph), {}, {}};
  auto steps = StepsBuilder(graph, plan, false).run();
  RECUT_CHECK(steps.ok(), "a graph in program order can always run");
  return std::move(*steps);
}

Result<EvaluationSteps> build_steps(const Graph& graph, const Plan& plan) {
  return StepsBuilder(graph, plan, true).run();
}

}  // namespace recut

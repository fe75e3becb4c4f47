#include <algorithm>

#include "engine/ir/aliases.h"
#include "engine/partition/problem/joint_problem.h"
#include "engine/support/check.h"

namespace recut {
namespace {

// Writes a plan run by run: the inverse of JointProblem's construction. Views are no computations
// of the problem, so a view is emitted when its first reader needs it, and again after its storage
// was recomputed. A clock dates every run; a value is available if it is newer than its storage's
// last run and was made in this pass or saved. Cost: O(runs + reads).
class PlanWriter {
 public:
  explicit PlanWriter(const Graph& graph)
      : graph_(graph),
        made_(graph.order().size(), kNever),
        saved_(graph.order().size(), false),
        users_(graph) {}

  void run(NodeId id) {
    for (const NodeId operand : graph_[id].operands) need(operand);
    emit(id);
    // The outputs of a call with several are emitted at once, so each can be saved by itself.
    if (graph_.op(id).multiple_outputs())
      for (const NodeId user : users_.of(id))
        if (graph_[user].op == Op::getitem) emit(user);
    if (graph_.op(id).is(kCollective)) wait_for(id);
  }

  // Runs a kernel's calls. Its inlined calls, and views of them, are not available afterwards.
  void run(std::span<const NodeId> calls, std::span<const NodeId> inlined) {
    emitted_.clear();
    for (const NodeId id : calls) run(id);
    for (std::size_t e = inlined.empty() ? 0 : emitted_.size(); e-- > 0;) {
      const NodeId made = defining_node(graph_, emitted_[e].id);
      if (std::find(inlined.begin(), inlined.end(), made) != inlined.end())
        made_[graph_.position(emitted_[e].id)] = emitted_[e].made_before;
    }
  }

  void cross_boundary() { boundary_ = ++clock_; }

  // Makes a value available: saves it, or emits the views that lead to it.
  void need(NodeId value) {
    std::vector<NodeId> stack{value};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      if (available(id)) {
        stack.pop_back();
        continue;
      }
      if (can_save(id)) {
        saved_[graph_.position(id)] = true;
        plan_.saved.push_back(id);
        stack.pop_back();
        continue;
      }
      NodeId missing;
      for (const NodeId operand : graph_[id].operands)
        if (!available(operand)) missing = operand;
      RECUT_CHECK(defining_node(graph_, id) != id, "a computation is read before it runs");
      if (missing.valid()) {
        stack.push_back(missing);
        continue;
      }
      emit(id);
      stack.pop_back();
    }
  }

  Plan take() {
    std::sort(plan_.saved.begin(), plan_.saved.end(),
              [&](NodeId a, NodeId b) { return graph_.position(a) < graph_.position(b); });
    return std::move(plan_);
  }

 private:
  static constexpr std::int64_t kNever = -1;

  // A collective reads its operands and writes its results until the wait. So no call comes between
  // the two, and the collective's own step holds all that is alive in this time.
  void wait_for(NodeId started) {
    for (const NodeId user : users_.of(started)) {
      if (graph_[user].op == Op::getitem) wait_for(user);
      if (graph_.op(user).is(kWait)) emit(user);
    }
  }

  // When the value's storage was last made. An older view belongs to the storage's last instance.
  std::int64_t born(NodeId id) const {
    const NodeId root = defining_node(graph_, id);
    return graph_.op(root).is(kInput) ? 0 : made_[graph_.position(root)];
  }

  bool available(NodeId id) const {
    if (graph_.op(id).is(kInput)) return true;
    const std::int64_t made = made_[graph_.position(id)];
    if (made == kNever || made < born(id)) return false;
    return made > boundary_ || saved_[graph_.position(id)];
  }

  // Made in forward, still the latest run, and a single tensor.
  bool can_save(NodeId id) const {
    const std::int64_t made = made_[graph_.position(id)];
    return boundary_ > 0 && made != kNever && made < boundary_ && made >= born(id) &&
           !graph_.op(id).multiple_outputs();
  }

  void emit(NodeId id) {
    emitted_.push_back({id, made_[graph_.position(id)]});
    made_[graph_.position(id)] = ++clock_;
    (boundary_ > 0 ? plan_.backward : plan_.forward).push_back(id);
  }

  struct Emitted {
    NodeId id;
    std::int64_t made_before;
  };

  const Graph& graph_;
  std::vector<std::int64_t> made_;  // by position
  std::vector<Emitted> emitted_;    // by the kernel that is running
  std::vector<bool> saved_;
  Users users_;
  std::int64_t clock_ = 0, boundary_ = 0;
  Plan plan_;
};

}  // namespace

Plan JointProblem::plan(std::span<const std::int32_t> sequence) const {
  PlanWriter writer(*graph_);
  for (const std::int32_t c : sequence) {
    if (c == problem_.boundary()) {
      for (const NodeId id : graph_->results)
        if (id.valid()) writer.need(id);
      writer.cross_boundary();
    } else if (c == problem_.end()) {
      if (problem_.boundary() < 0)
        for (const NodeId id : graph_->results)
          if (id.valid()) writer.need(id);
      for (const NodeId id : graph_->gradients)
        if (id.valid()) writer.need(id);
    } else {
      writer.run(calls(c), inlined(c));
    }
  }
  return writer.take();
}

}  // namespace recut

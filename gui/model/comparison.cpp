#include "gui/model/comparison.h"

#include <algorithm>

#include "engine/ir/printer.h"

namespace recut::gui {
namespace {

GraphMatch match_of(const ShownGraph& here, const ShownGraph& there) {
  if (here.document != there.document) return match_documents(here.graph(), there.graph());
  if (here.pass == there.pass) return match_same(here.graph());
  return match_passes(here.document->passes, here.pass, there.pass);
}

// The roles that a plan gives to the nodes of a pass's graph.
class Fates {
 public:
  explicit Fates(const ShownGraph& shown)
      : graph_(shown.graph()), plan_(*shown.plan), bytes_(owned_bytes(plan_)) {}

  struct Fate {
    Role role = Role::freed;
    std::int32_t runs = 0;
    std::int64_t bytes = 0;
  };
  std::optional<Fate> of(NodeId node) const {
    const NodeId planned = planned_node(graph_, plan_, node);
    if (!planned.valid()) return std::nullopt;
    const std::size_t at = plan_.graph().position(planned);
    return Fate{plan_.roles[at], plan_.extra_runs[at], bytes_[at]};
  }

 private:
  const Graph& graph_;
  const PlanView& plan_;
  const std::vector<std::int64_t> bytes_;
};

// Merges two program orders: walks the graph here, and puts each node that is only there behind the
// last common node before it.
//   here a b c, there a x c  ⇒  x only there, b only here
// A pair has one difference at most: another operator or line hides another role. Linear in both
// graphs, but for sorting the nodes that are only there.
class ComparisonComparer {
 public:
  ComparisonComparer(const ShownGraph& here, const ShownGraph& there)
      : one_document_(here.document == there.document), here_(here.graph()), there_(there.graph()) {
    GraphMatch match = match_of(here, there);
    begin(result_.here, here, std::move(match.here));
    begin(result_.there, there, std::move(match.there));
    if (here.plan && there.plan && here.plan != there.plan) {
      fates_here_.emplace(here);
      fates_there_.emplace(there);
    }
  }

  Comparison run() {
    place_there();
    std::size_t next = take_there(0, 0);  // before anything that both have
    const auto order = here_.order();
    for (std::size_t at = 0; at < order.size(); ++at) {
      take_here(order[at], at);
      next = take_there(next, at + 1);
    }
    return std::move(result_);
  }

 private:
  static void begin(ComparedSide& side, const ShownGraph& shown, MatchSide match) {
    const std::size_t nodes = shown.graph().order().size();
    side.shown = shown;
    side.match = std::move(match);
    side.difference.assign(nodes, Difference::none);
    side.other_role.assign(nodes, std::nullopt);
  }

  // The nodes that are only there, each behind the last node before it there that both have; the
  // place is one more than that node's position here.
  void place_there() {
    std::size_t insertion = 0;
    for (const NodeId id : there_.order()) {
      const std::size_t at = there_.position(id);
      if (result_.there.match.twin[at])
        insertion = here_.position(result_.there.match.partner[at]) + 1;
      else
        only_there_.emplace_back(insertion, id);
    }
    std::stable_sort(only_there_.begin(), only_there_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  std::size_t take_there(std::size_t next, std::size_t insertion) {
    for (; next < only_there_.size() && only_there_[next].first == insertion; ++next) {
      const NodeId id = only_there_[next].second;
      result_.there.difference[there_.position(id)] = Difference::only;
      result_.steps.push_back({{}, id, Difference::only});
      ++result_.counts.only_there;
    }
    return next;
  }

  void take_here(NodeId id, std::size_t at) {
    if (!result_.here.match.twin[at]) {
      result_.here.difference[at] = Difference::only;
      result_.steps.push_back({id, {}, Difference::only});
      ++result_.counts.only_here;
      return;
    }
    ComparisonStep step{id, result_.here.match.partner[at]};
    if (is_rewritten(step)) {
      step.kind = Difference::rewritten;
      ++result_.counts.rewritten;
    } else if (has_other_fate(step)) {
      step.kind = Difference::fate;
      ++result_.counts.fate;
    }
    if (step.kind == Difference::none) return;
    mark(result_.here, here_.position(step.here), step, step.role_there);
    mark(result_.there, there_.position(step.there), step, step.role_here);
    result_.steps.push_back(step);
  }

  static void mark(ComparedSide& side, std::size_t at, const ComparisonStep& step, Role other) {
    side.difference[at] = step.kind;
    if (step.kind == Difference::fate && step.role_here != step.role_there)
      side.other_role[at] = other;
  }

  // A node whose operand was rewritten is another node with the same line: that is no change. Of
  // two documents, sizes may differ throughout.
  bool is_rewritten(const ComparisonStep& step) const {
    if (one_document_ && step.here == step.there) return false;
    if (here_.op(step.here).name != there_.op(step.there).name) return true;
    return one_document_ && print_node(here_, step.here) != print_node(there_, step.there);
  }

  bool has_other_fate(ComparisonStep& step) const {
    if (!fates_here_) return false;
    const auto mine = fates_here_->of(step.here), other = fates_there_->of(step.there);
    if (!mine || !other) return false;
    step.bytes = std::max(mine->bytes, other->bytes);
    step.role_here = mine->role;
    step.role_there = other->role;
    step.runs_here = mine->runs;
    step.runs_there = other->runs;
    return step.bytes > 0 && (mine->role != other->role || mine->runs != other->runs);
  }

  const bool one_document_;
  const Graph &here_, &there_;
  std::optional<Fates> fates_here_, fates_there_;
  std::vector<std::pair<std::size_t, NodeId>> only_there_;
  Comparison result_;
};

}  // namespace

NodeId ComparedSide::partner(NodeId node) const {
  const Graph& graph = shown.graph();
  return node.valid() && graph.contains(node) ? match.partner[graph.position(node)] : NodeId();
}

Difference ComparedSide::of(NodeId node) const {
  const Graph& graph = shown.graph();
  const bool known = node.valid() && graph.contains(node);
  return known ? difference[graph.position(node)] : Difference::none;
}

SharedComparison make_comparison(const ShownGraph& here, const ShownGraph& there) {
  return std::make_shared<const Comparison>(ComparisonComparer(here, there).run());
}

}  // namespace recut::gui

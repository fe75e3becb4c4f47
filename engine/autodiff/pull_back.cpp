#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "engine/autodiff/tape.h"

// Reverse mode, one walk backwards over the tape (tape.h). `gradients_` accumulates the sum of all
// contributions to a node; when the walk reaches the node, every user has contributed, and its rule
// turns the sum into gradients of its operands.
//
//   %z = mul(%x, %y)   =>   gradients_[%x] += gz * y, gradients_[%y] += gz * x
//
// Inactive nodes and nodes without a gradient are skipped, so that the cost is that of the active
// calls alone. An invalid value is a zero that is never materialised.

namespace recut::autodiff {
namespace {

class PullBackSweep {
 public:
  PullBackSweep(Builder& b, std::span<const NodeId> tape, std::span<const NodeId> wanted,
                Gaps& gaps, Trail* trail)
      : b_(b), tape_(tape), gaps_(gaps), trail_(trail) {
    for (const NodeId id : wanted) active_.insert(id.index), leaves_.insert(id.index);
    for (const NodeId id : tape)
      if (leaves_.count(id.index) == 0 &&
          is_active(b.graph(), id, [this](NodeId operand) { return active(operand); }))
        active_.insert(id.index);
  }

  void seed(const Seed& seed) { add(seed.node, seed.output, seed.value); }

  void run() {
    for (std::size_t i = tape_.size(); i-- > 0;) {
      const NodeId id = tape_[i];
      if (leaves_.count(id.index) != 0 || !active(id)) continue;
      const auto found = gradients_.find(id.index);
      if (found != gradients_.end()) visit(id, std::move(found->second));
    }
  }

  // A sum of zeros alone stays invalid within a decomposed call and is materialised outside.
  Value gradient(NodeId id) const {
    const auto found = gradients_.find(id.index);
    if (found == gradients_.end()) return {};
    const Value& sum = found->second.front();
    return sum.valid() || nested() ? sum : zeros(b_, b_.graph().type(id));
  }

 private:
  static bool any_valid(const Gradients& gradients) {
    return std::any_of(gradients.begin(), gradients.end(),
                       [](const Value& v) { return v.valid(); });
  }

  bool nested() const { return trail_ == nullptr; }
  bool active(NodeId id) const { return active_.count(id.index) != 0; }

  // An invalid value is a zero: nothing is added, but the node has a gradient from now on.
  void add(NodeId node, std::int64_t output, const Value& value) {
    if (!active(node)) return;
    Gradients& gradients = gradients_[node.index];
    if (gradients.empty()) gradients.resize(b_.graph()[node].outputs.size());
    if (!value.valid()) return;
    Value& sum = gradients[static_cast<std::size_t>(output)];
    sum = plus(sum, fitted(value, b_.graph()[node].outputs[static_cast<std::size_t>(output)]));
    if (step_) step_->gradients.emplace_back(node, sum.id());
  }

  // Nodes appended between begin_step() and end_step() belong to the call.
  void begin_step(NodeId call) {
    if (nested()) return;
    step_ = Pulled{call, {}, {}};
    trail_->marks.push_back(b_.graph().order().size());
  }
  void end_step() {
    if (!step_) return;
    const auto made = b_.graph().order().subspan(trail_->marks.back());
    step_->made.assign(made.begin(), made.end());
    trail_->pulled.push_back(std::move(*step_));
    step_.reset();
  }

  void visit(NodeId id, Gradients gradients) {
    const Node& node = b_.graph()[id];
    if (!any_valid(gradients)) {
      for (const NodeId operand : node.operands) add(operand, 0, {});
      return;
    }
    if (node.op == Op::getitem)
      return add(*node.arguments[0].get<NodeId>(), *node.arguments[1].get<std::int64_t>(),
                 gradients.front());
    const Row* row = find_row(node.op);
    if (row == nullptr) return gaps_.add(b_, id);
    std::optional<Builder::Scope> scope;
    if (!nested()) scope.emplace(b_, place_of_derivative(b_.graph(), id));
    begin_step(id);
    Site site(b_, id, std::move(gradients), [this](NodeId operand) { return active(operand); });
    if (row->kind == RowKind::expansion)
      through_expansion(*row, site, node);
    else
      for (const Partial& partial : row->partials) apply(partial, site);
    end_step();
  }

  void apply(const Partial& partial, Site& site) {
    if (!site.wants(partial.parameter)) return;
    if (partial.list == nullptr)
      return add(site.call().node(partial.parameter), 0, partial.formula(site));
    const auto operands = site.call().nodes(partial.parameter);
    const std::vector<Value> values = partial.list(site);
    for (std::size_t i = 0; i < operands.size() && i < values.size(); ++i)
      if (operands[i].valid()) add(operands[i], 0, values[i]);
  }

  void through_expansion(const Row& row, Site& site, const Node& node) {
    const Expanded expanded = expand(row, site, node);
    std::vector<Seed> seeds;
    for (std::size_t i = 0; i < expanded.outputs.size(); ++i) {
      const auto output = static_cast<std::int64_t>(i);
      if (expanded.outputs[i].valid() && site.has_grad(output))
        seeds.push_back({expanded.outputs[i].id(), site.grad(output)});
    }
    std::vector<NodeId> wanted;
    for (const NodeId operand : node.operands)
      if (active(operand)) wanted.push_back(operand);
    const auto gradients = pull_back(b_, expanded.tape, seeds, wanted, gaps_);
    for (std::size_t i = 0; i < wanted.size(); ++i) add(wanted[i], 0, gradients[i]);
  }

  Builder& b_;
  std::span<const NodeId> tape_;
  Gaps& gaps_;
  Trail* trail_;                                            // null: within a decomposed call
  std::optional<Pulled> step_;                              // the current one
  std::unordered_set<std::uint32_t> active_, leaves_;       // looked up only
  std::unordered_map<std::uint32_t, Gradients> gradients_;  // by node; looked up only
};

}  // namespace

std::vector<Value> pull_back(Builder& b, std::span<const NodeId> tape, std::span<const Seed> seeds,
                             std::span<const NodeId> wanted, Gaps& gaps, Trail* trail) {
  PullBackSweep sweep(b, tape, wanted, gaps, trail);
  for (const Seed& seed : seeds) sweep.seed(seed);
  sweep.run();
  std::vector<Value> gradients;
  for (const NodeId id : wanted) gradients.push_back(sweep.gradient(id));
  return gradients;
}

}  // namespace recut::autodiff

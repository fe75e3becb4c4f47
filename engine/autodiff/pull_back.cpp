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
  PullBackSweep(Builder& b, std::span<const NodeId> tape, std::span<const NodeId> leaves,
                MissingRules& missing_rules, TapeTrace* trace)
      : b_(b), tape_(tape), missing_rules_(missing_rules), trace_(trace) {
    for (const NodeId id : leaves) active_.insert(id.index), leaves_.insert(id.index);
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

  bool nested() const { return trace_ == nullptr; }
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
    step_ = VjpStep{call, {}, {}};
    trace_->call_starts.push_back(b_.graph().order().size());
  }
  void end_step() {
    if (!step_) return;
    const auto new_nodes = b_.graph().order().subspan(trace_->call_starts.back());
    step_->new_nodes.assign(new_nodes.begin(), new_nodes.end());
    trace_->vjp_steps.push_back(std::move(*step_));
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
    const DerivativeRule* rule = find_derivative_rule(node.op);
    if (rule == nullptr) return missing_rules_.add(b_, id);
    std::optional<Builder::Scope> scope;
    if (!nested()) scope.emplace(b_, location_of_derivative(b_.graph(), id));
    begin_step(id);
    const ComplexRule numbers = complex_rule_of(b_.graph(), id);
    VjpContext context(b_, id, conjugated(std::move(gradients), numbers),
                       [this](NodeId operand) { return active(operand); });
    if (rule->kind == DerivativeKind::decomposition)
      through_decomposition(*rule, context, node);
    else
      for (const Partial& partial : rule->partials) apply(partial, context, numbers);
    end_step();
  }

  void apply(const Partial& partial, VjpContext& context, ComplexRule numbers) {
    if (!context.needs_input_grad(partial.parameter)) return;
    if (partial.list == nullptr)
      return add(context.call().node(partial.parameter), 0,
                 conjugated(partial.formula(context), numbers));
    const auto operands = context.call().nodes(partial.parameter);
    const std::vector<Value> values = partial.list(context);
    for (std::size_t i = 0; i < operands.size() && i < values.size(); ++i)
      if (operands[i].valid()) add(operands[i], 0, conjugated(values[i], numbers));
  }

  void through_decomposition(const DerivativeRule& rule, VjpContext& context, const Node& node) {
    const DecomposedCall decomposed = decompose(rule, context, node);
    std::vector<Seed> seeds;
    for (std::size_t i = 0; i < decomposed.outputs.size(); ++i) {
      const auto output = static_cast<std::int64_t>(i);
      if (decomposed.outputs[i].valid() && context.has_grad(output))
        seeds.push_back({decomposed.outputs[i].id(), context.grad(output)});
    }
    std::vector<NodeId> leaves;
    for (const NodeId operand : node.operands)
      if (active(operand)) leaves.push_back(operand);
    const auto gradients = pull_back(b_, decomposed.tape, seeds, leaves, missing_rules_);
    for (std::size_t i = 0; i < leaves.size(); ++i) add(leaves[i], 0, gradients[i]);
  }

  Builder& b_;
  std::span<const NodeId> tape_;
  MissingRules& missing_rules_;
  TapeTrace* trace_;                                        // null: within a decomposed call
  std::optional<VjpStep> step_;                             // the current one
  std::unordered_set<std::uint32_t> active_, leaves_;       // looked up only
  std::unordered_map<std::uint32_t, Gradients> gradients_;  // by node; looked up only
};

}  // namespace

std::vector<Value> pull_back(Builder& b, std::span<const NodeId> tape, std::span<const Seed> seeds,
                             std::span<const NodeId> leaves, MissingRules& missing_rules,
                             TapeTrace* trace) {
  PullBackSweep sweep(b, tape, leaves, missing_rules, trace);
  for (const Seed& seed : seeds) sweep.seed(seed);
  sweep.run();
  std::vector<Value> gradients;
  for (const NodeId id : leaves) gradients.push_back(sweep.gradient(id));
  return gradients;
}

}  // namespace recut::autodiff

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "engine/autodiff/tape.h"

// Forward mode, one walk over the tape in order (tape.h): each rule turns the tangents of a call's
// operands into those of its outputs.
//
//   elementwise    the sum over parameters of the VJP formula with the tangent as the gradient
//   linear         the operator itself, applied to the tangent
//   decomposition  forward mode over the simpler operators
//   vjp            transposed: reverse mode over the VJP, which is linear in the gradient
//
// The transposition appends the VJP itself, whose value is dead and is removed with the draft. A
// VJP rule that also has a decomposition uses the decomposition instead.

namespace recut::autodiff {
namespace {

class PushForwardSweep {
 public:
  PushForwardSweep(Builder& b, MissingRules& missing_rules, TapeTrace* trace,
                   const OwnTangents& own)
      : b_(b), missing_rules_(missing_rules), trace_(trace), own_(own) {}

  void seed(const Seed& seed) { set(seed.node, seed.output, seed.value); }

  void visit(NodeId id) {
    if (tangents_.count(id.index) != 0) return;  // a seed
    const Node& node = b_.graph()[id];
    if (!is_active(b_.graph(), id, [this](NodeId operand) { return has(operand); })) return;
    if (node.op == Op::getitem)
      return set(id, 0,
                 get(*node.arguments[0].get<NodeId>(), *node.arguments[1].get<std::int64_t>()));
    if (own_ && take_own(id)) return;
    const DerivativeRule* rule = find_derivative_rule(node.op);
    if (rule == nullptr) return missing_rules_.add(b_, id);
    std::optional<Builder::Scope> scope;
    if (trace_ != nullptr) {
      trace_->call_starts.push_back(b_.graph().order().size());
      scope.emplace(b_, location_of_derivative(b_.graph(), id));
    }
    apply(*rule, id, node);
  }

  Value get(NodeId id, std::int64_t output) const {
    const auto found = tangents_.find(id.index);
    if (found == tangents_.end()) return {};
    return found->second[static_cast<std::size_t>(output)];
  }

 private:
  bool has(NodeId id) const { return tangents_.count(id.index) != 0; }

  void set(NodeId id, std::int64_t output, const Value& value) {
    if (!value.valid()) return;
    const auto& types = b_.graph()[id].outputs;
    Gradients& tangents = tangents_[id.index];
    if (tangents.empty()) tangents.resize(types.size());
    const TensorType& type = types[static_cast<std::size_t>(output)];
    tangents[static_cast<std::size_t>(output)] =
        broadcast_to(b_.convert(value, type.dtype), type.shape);
  }

  bool take_own(NodeId id) {
    const auto own =
        own_(id, [this](NodeId operand, std::int64_t output) { return get(operand, output); });
    for (std::size_t i = 0; own && i < own->size(); ++i)
      set(id, static_cast<std::int64_t>(i), (*own)[i]);
    return own.has_value();
  }

  void apply(const DerivativeRule& rule, NodeId id, const Node& node) {
    if (rule.kind != DerivativeKind::constant &&
        complex_rule_of(b_.graph(), id) == ComplexRule::transposed)
      return transposed(rule, id, node);
    switch (rule.kind) {
      case DerivativeKind::elementwise:
        return elementwise(rule, id);
      case DerivativeKind::linear:
        return linear(rule, id, node);
      case DerivativeKind::decomposition:
        return decomposition(rule, id, node);
      case DerivativeKind::vjp:
        return rule.decomposition != nullptr ? decomposition(rule, id, node)
                                             : transposed(rule, id, node);
      case DerivativeKind::constant:
        return;
    }
  }

  VjpContext context(NodeId id, Gradients gradients) {
    return VjpContext(b_, id, std::move(gradients),
                      [this](NodeId operand) { return has(operand); });
  }

  void elementwise(const DerivativeRule& rule, NodeId id) {
    Value sum;
    for (const Partial& partial : rule.partials) {
      VjpContext reading = context(id, {});
      if (!reading.needs_input_grad(partial.parameter)) continue;
      const Value tangent = get(reading.call().node(partial.parameter), 0);
      VjpContext at = context(id, {b_.convert(tangent, reading.out_type().dtype)});
      sum = plus(sum, partial.formula(at));
    }
    set(id, 0, sum);
  }

  // The operator again, with the tangents as this parameter.
  void linear(const DerivativeRule& rule, NodeId id, const Node& node) {
    Gradients sums(node.outputs.size());
    for (const Partial& partial : rule.partials) {
      VjpContext at = context(id, {});
      if (!at.needs_input_grad(partial.parameter)) continue;
      std::vector<Argument> arguments = node.arguments;
      for_each_node(arguments[*at.call().op().parameter(partial.parameter)], [&](NodeId& operand) {
        const Value tangent = get(operand, 0);
        operand = (tangent.valid() ? tangent : zeros(b_, b_.graph().type(operand))).id();
      });
      const Value made = b_.call(node.op, std::move(arguments));
      for (std::size_t i = 0; made.valid() && i < sums.size(); ++i)
        sums[i] = plus(
            sums[i], at.call().op().multiple_outputs() ? made[static_cast<std::int64_t>(i)] : made);
    }
    for (std::size_t i = 0; i < sums.size(); ++i) set(id, static_cast<std::int64_t>(i), sums[i]);
  }

  std::vector<Seed> operand_seeds(const Node& node) const {
    std::vector<Seed> seeds;
    for (const NodeId operand : node.operands)
      if (has(operand)) seeds.push_back({operand, get(operand, 0)});
    return seeds;
  }

  void decomposition(const DerivativeRule& rule, NodeId id, const Node& node) {
    VjpContext at = context(id, {});
    const DecomposedCall decomposed = decompose(rule, at, node);
    std::vector<Seed> outputs;
    for (const Value& output : decomposed.outputs) outputs.push_back({output.id(), {}});
    const auto tangents =
        push_forward(b_, decomposed.tape, operand_seeds(node), outputs, missing_rules_);
    for (std::size_t i = 0; i < tangents.size() && i < node.outputs.size(); ++i)
      set(id, static_cast<std::int64_t>(i), tangents[i]);
  }

  // A placeholder for an output's gradient. The VJP is linear in it, so that its value does not
  // matter, but it must be a node that no formula creates: a full of an odd number near 1.
  Value stand_in(const TensorType& type) {
    Graph& graph = b_.graph();
    for (int k = 0;; ++k) {
      std::vector<Argument> arguments(operator_of(Op::full).parameters.size());
      arguments[0] = Argument(type.shape);
      arguments[1] = Argument(1 + (2 * k + 1) / 1099511627776.0);
      arguments[2] = Argument(type.dtype);
      const NodeId id = graph.shared_pool()->intern(Op::full, arguments, {type});
      if (!graph.contains(id))
        return b_.value(graph.append(Op::full, std::move(arguments), {type}, {}));
    }
  }

  Gradients stand_ins(const DerivativeRule& rule, const Node& node) {
    Gradients gradients(node.outputs.size());
    for (std::size_t i = 0; i < gradients.size() && static_cast<int>(i) < rule.outputs; ++i)
      if (has_gradient(node.outputs[i].dtype))
        gradients[i] = stand_in(
            make_type(node.outputs[i].dtype, node.outputs[i].shape, node.outputs[i].device));
    return gradients;
  }

  void transposed(const DerivativeRule& rule, NodeId id, const Node& node) {
    const Gradients cotangents = stand_ins(rule, node);
    std::vector<NodeId> outputs, vjp_outputs;
    for (const Value& c : cotangents)
      if (c.valid()) outputs.push_back(c.id());
    std::vector<Seed> seeds;
    const ComplexRule numbers = complex_rule_of(b_.graph(), id);
    VjpContext at = context(id, conjugated(cotangents, numbers));
    for (const Partial& partial : rule.partials) collect(partial, at, numbers, seeds);
    for (const Seed& seed : seeds) vjp_outputs.push_back(seed.node);
    const auto tape = backward_slice(b_.graph(), vjp_outputs, [&](NodeId node_id) {
      const auto& operands = node.operands;
      return node_id == id ||
             std::find(operands.begin(), operands.end(), node_id) != operands.end() ||
             std::find(outputs.begin(), outputs.end(), node_id) != outputs.end();
    });
    const auto tangents = pull_back(b_, tape, seeds, outputs, missing_rules_);
    std::size_t next = 0;
    for (std::size_t i = 0; i < cotangents.size(); ++i)
      if (cotangents[i].valid()) set(id, static_cast<std::int64_t>(i), tangents[next++]);
  }

  // Seeds each operand's VJP with that operand's tangent.
  void collect(const Partial& partial, VjpContext& at, ComplexRule numbers,
               std::vector<Seed>& seeds) {
    if (!at.needs_input_grad(partial.parameter)) return;
    const auto operands = at.call().nodes(partial.parameter);
    std::vector<Value> values =
        partial.list != nullptr ? partial.list(at) : std::vector<Value>{partial.formula(at)};
    for (std::size_t i = 0; i < operands.size() && i < values.size(); ++i) {
      const Value tangent = operands[i].valid() ? get(operands[i], 0) : Value();
      if (!tangent.valid() || !values[i].valid()) continue;
      const Value value = fitted(conjugated(values[i], numbers), b_.graph().type(operands[i]));
      if (value.valid()) seeds.push_back({value.id(), tangent});
    }
  }

  Builder& b_;
  MissingRules& missing_rules_;
  TapeTrace* trace_;                                       // null: within a decomposed call
  const OwnTangents& own_;                                 // may be empty
  std::unordered_map<std::uint32_t, Gradients> tangents_;  // by node; looked up only
};

}  // namespace

std::vector<Value> push_forward(Builder& b, std::span<const NodeId> tape,
                                std::span<const Seed> seeds, std::span<const Seed> outputs,
                                MissingRules& missing_rules, TapeTrace* trace,
                                const OwnTangents& own) {
  PushForwardSweep sweep(b, missing_rules, trace, own);
  for (const Seed& seed : seeds) sweep.seed(seed);
  for (const NodeId id : tape) sweep.visit(id);
  std::vector<Value> tangents;
  for (const Seed& w : outputs)
    tangents.push_back(w.node.valid() ? sweep.get(w.node, w.output) : Value());
  return tangents;
}

}  // namespace recut::autodiff

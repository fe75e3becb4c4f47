#include "engine/autodiff/differentiate.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/autodiff/canonical_order.h"
#include "engine/autodiff/requires_grad.h"
#include "engine/autodiff/tape.h"
#include "engine/ir/copy.h"
#include "engine/ir/graph_signature.h"
#include "engine/ir/printer.h"

namespace recut {
namespace {

using autodiff::CanonicalGraph;
using autodiff::Seed;

// Differentiation in three stages: copy the forward graph into a draft with its own pool, append
// the VJP of every active call in reverse (pull_back.cpp), and write the draft out in canonical
// order (canonical_order.h).
//
//   %y = relu(%x)      =>   %y = relu(%x), %le = le.Scalar(%y, 0.0),
//                           %g = where.self(%le, 0.0, %tangents_1); gradients %g
//
// The draft exists because C++ evaluates operands in an unspecified order; only the canonical order
// makes the joint graph the same under every compiler. Time is linear in the nodes of the joint
// graph, apart from sorting within one rule's nodes. The form of the result is AOTAutograd's.

// Gives every node without a sequence number a new one, above the existing ones. Backward nodes
// copy it, which marks the two as partners.
class SequenceNumbers {
 public:
  explicit SequenceNumbers(const Graph& graph) {
    for (const NodeId id : graph.order()) next_ = std::max(next_, graph.origin(id).seq_nr + 1);
  }
  Origin origin(const Graph& graph, NodeId id) {
    Origin origin = graph.origin(id);
    if (origin.seq_nr < 0 && !graph.op(id).is(kInput)) origin.seq_nr = next_++;
    return origin;
  }

 private:
  std::int64_t next_ = 1;
};

class Differentiation {
 public:
  // `steps` may be null.
  Differentiation(const Graph& forward, std::vector<NodeId> requires_grad,
                  std::vector<std::size_t> differentiable, std::vector<DerivativeStep>* steps)
      : forward_(forward),
        requires_grad_(std::move(requires_grad)),
        differentiable_(std::move(differentiable)),
        drafted_(forward.order().size()),
        b_(draft_),
        steps_(steps) {}

  Result<Graph> run() {
    add_inputs();
    add_forward();
    seed();
    autodiff::TapeTrace trace;
    const auto gradients = autodiff::pull_back(b_, drafted(forward_.order()), seeds_,
                                               drafted(requires_grad_), missing_rules_, &trace);
    if (!missing_rules_.empty()) return missing_rules_.diagnostics();
    if (b_.diagnostic()) return *b_.diagnostic();
    draft_.results = drafted(forward_.results);
    for (const NodeId id : forward_.inputs()) {
      if (forward_.input_kind(id) == InputKind::tangent) continue;
      const auto at = std::find(requires_grad_.begin(), requires_grad_.end(), id);
      draft_.gradients.push_back(
          at == requires_grad_.end()
              ? NodeId()
              : gradients[static_cast<std::size_t>(at - requires_grad_.begin())].id());
    }
    CanonicalGraph joint = autodiff::in_canonical_order(draft_, trace.call_starts, forward_);
    GraphSignature signature = without_tangents(forward_);
    if (!signature.empty()) signature.tangent_of = differentiable_;
    set_signature(joint.graph, std::move(signature));
    if (steps_ != nullptr)
      for (const autodiff::VjpStep& vjp_step : trace.vjp_steps)
        steps_->push_back(step_of(joint, vjp_step));
    return std::move(joint.graph);
  }

 private:
  // The draft's copies of nodes of the forward graph.
  NodeId drafted(NodeId id) const { return id.valid() ? drafted_[forward_.position(id)] : id; }
  std::vector<NodeId> drafted(std::span<const NodeId> ids) const {
    std::vector<NodeId> found;
    for (const NodeId id : ids) found.push_back(drafted(id));
    return found;
  }
  NodeId drafted_from(NodeId id) const {
    const auto at = std::find(drafted_.begin(), drafted_.end(), id);
    return forward_.order()[static_cast<std::size_t>(at - drafted_.begin())];
  }

  // Describes a step by nodes of the joint graph. Nodes that were dead in the draft are left out.
  DerivativeStep step_of(const CanonicalGraph& copy, const autodiff::VjpStep& vjp_step) const {
    const Graph& joint = copy.graph;
    DerivativeStep step{draft_.op(vjp_step.call).name, drafted_from(vjp_step.call), {}, {}};
    step.text = joint.contains(step.call) ? print_node(joint, step.call)
                                          : std::string(step.rule);  // only its gradient is used
    std::string_view before = "  =>  ";
    const auto append = [&](const std::string& text) {
      step.text += std::string(before) + text;
      before = "; ";
    };
    for (const NodeId id : vjp_step.new_nodes)
      if (const NodeId image = copy.of(draft_, id); image.valid()) step.new_nodes.push_back(image);
    std::sort(step.new_nodes.begin(), step.new_nodes.end(),
              [&](NodeId a, NodeId b) { return joint.position(a) < joint.position(b); });
    for (const NodeId id : step.new_nodes) append(print_node(joint, id));
    for (const auto& [operand, gradient] : vjp_step.gradients) {
      const NodeId of = copy.of(draft_, operand), is = copy.of(draft_, gradient);
      if (of.valid() && is.valid())
        append(fmt::format("gradient of %{}: %{}", joint.node_name(of), joint.node_name(is)));
    }
    return step;
  }

  void add_inputs() {
    for (const NodeId id : forward_.inputs()) {
      const bool requires_grad =
          std::find(requires_grad_.begin(), requires_grad_.end(), id) != requires_grad_.end();
      InputKind kind = forward_.input_kind(id);
      if (kind != InputKind::tangent)
        kind = requires_grad ? InputKind::parameter : InputKind::input;
      drafted_[forward_.position(id)] =
          draft_.add_input(kind, forward_.type(id), forward_.origin(id));
    }
    int count = 0;
    for (const std::size_t index : differentiable_)
      tangents_.push_back(b_.placeholder(InputKind::tangent,
                                         draft_.unused_name(fmt::format("tangents_{}", ++count)),
                                         forward_.type(forward_.results[index])));
  }

  void add_forward() {
    SequenceNumbers sequence_numbers(forward_);
    for (const NodeId id : forward_.order()) {
      if (forward_[id].op == Op::placeholder) continue;
      drafted_[forward_.position(id)] =
          copy_node(forward_, id, draft_, sequence_numbers.origin(forward_, id),
                    [&](NodeId operand) { return drafted(operand); });
    }
    for (const auto& [alias, id] : forward_.aliases()) draft_.add_alias(alias, drafted(id));
  }

  void seed() {
    for (std::size_t i = 0; i < tangents_.size(); ++i)
      seeds_.push_back({drafted(forward_.results[differentiable_[i]]), tangents_[i]});
  }

  const Graph& forward_;
  std::vector<NodeId> requires_grad_;
  std::vector<std::size_t> differentiable_;
  Graph draft_;                  // in a pool of its own
  std::vector<NodeId> drafted_;  // by position in the forward graph
  std::vector<Value> tangents_;
  Builder b_;
  autodiff::MissingRules missing_rules_;
  std::vector<Seed> seeds_;
  std::vector<DerivativeStep>* steps_;
};

Diagnostics bad_results(const Graph& graph, const std::vector<std::size_t>& indices) {
  Diagnostics wrong;
  for (const std::size_t index : indices)
    if (index >= graph.results.size() || !has_gradient(graph.type(graph.results[index]).dtype))
      wrong.push_back(
          error(fmt::format("result {} {}", index,
                            index >= graph.results.size()
                                ? fmt::format("is not there: there are {}", graph.results.size())
                                : "is neither real nor complex: it has no tangent")));
  return wrong;
}

}  // namespace

Result<Graph> differentiate(const Graph& forward, const GradOptions& options,
                            std::vector<DerivativeStep>* steps) {
  for (const NodeId gradient : forward.gradients)
    if (gradient.valid()) return error("the graph has gradients: it is a joint graph already");
  const auto requires_grad = autodiff::inputs_requiring_grad(forward, options.requires_grad);
  if (!requires_grad) return requires_grad.diagnostics();
  const auto indices = options.differentiable
                           ? *options.differentiable
                           : autodiff::differentiable_results(forward, *requires_grad);
  Diagnostics wrong = bad_results(forward, indices);
  if (!wrong.empty()) return wrong;
  return Differentiation(forward, *requires_grad, indices, steps).run();
}

Differentiability differentiability(Op op) {
  if (op == Op::getitem) return Differentiability::rule;
  const autodiff::DerivativeRule* rule = autodiff::find_derivative_rule(op);
  if (rule == nullptr) return Differentiability::none;
  return rule->kind == autodiff::DerivativeKind::constant ? Differentiability::constant
                                                          : Differentiability::rule;
}

std::string_view reason_without_derivative(Op op) {
  const autodiff::DerivativeRule* rule = autodiff::find_derivative_rule(op);
  return rule == nullptr ? std::string_view() : rule->reason;
}

}  // namespace recut

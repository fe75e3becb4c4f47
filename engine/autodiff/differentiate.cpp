#include "engine/autodiff/differentiate.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/autodiff/fair_copy.h"
#include "engine/autodiff/tape.h"
#include "engine/autodiff/wanted.h"
#include "engine/ir/copy.h"
#include "engine/ir/printer.h"

namespace recut {
namespace {

using autodiff::FairCopy;
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
class Numbering {
 public:
  explicit Numbering(const Graph& graph) {
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
  Differentiation(const Graph& forward, std::vector<NodeId> wanted,
                  std::vector<std::size_t> differentiable, std::vector<DerivativeStep>* steps)
      : forward_(forward),
        wanted_(std::move(wanted)),
        differentiable_(std::move(differentiable)),
        drafted_(forward.order().size()),
        b_(draft_),
        steps_(steps) {}

  Result<Graph> run() {
    add_inputs();
    add_forward();
    seed();
    autodiff::Trail trail;
    const auto gradients =
        autodiff::pull_back(b_, drafted(forward_.order()), seeds_, drafted(wanted_), gaps_, &trail);
    if (!gaps_.empty()) return gaps_.diagnostics();
    if (b_.complaint()) return *b_.complaint();
    draft_.results = drafted(forward_.results);
    for (const NodeId id : forward_.inputs()) {
      if (forward_.input_kind(id) == InputKind::tangent) continue;
      const auto at = std::find(wanted_.begin(), wanted_.end(), id);
      draft_.gradients.push_back(
          at == wanted_.end() ? NodeId()
                              : gradients[static_cast<std::size_t>(at - wanted_.begin())].id());
    }
    FairCopy joint = autodiff::fair_copy(draft_, trail.marks, forward_);
    if (steps_ != nullptr)
      for (const autodiff::Pulled& one : trail.pulled) steps_->push_back(step_of(joint, one));
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
  DerivativeStep step_of(const FairCopy& copy, const autodiff::Pulled& pulled) const {
    const Graph& joint = copy.graph;
    DerivativeStep step{draft_.op(pulled.call).name, drafted_from(pulled.call), {}, {}};
    step.words = joint.contains(step.call) ? print_node(joint, step.call)
                                           : std::string(step.rule);  // only its gradient is used
    std::string_view before = "  =>  ";
    const auto say = [&](const std::string& words) {
      step.words += std::string(before) + words;
      before = "; ";
    };
    for (const NodeId id : pulled.made)
      if (const NodeId image = copy.of(draft_, id); image.valid()) step.made.push_back(image);
    std::sort(step.made.begin(), step.made.end(),
              [&](NodeId a, NodeId b) { return joint.position(a) < joint.position(b); });
    for (const NodeId id : step.made) say(print_node(joint, id));
    for (const auto& [operand, gradient] : pulled.gradients) {
      const NodeId of = copy.of(draft_, operand), is = copy.of(draft_, gradient);
      if (of.valid() && is.valid())
        say(fmt::format("gradient of %{}: %{}", joint.node_name(of), joint.node_name(is)));
    }
    return step;
  }

  void add_inputs() {
    for (const NodeId id : forward_.inputs()) {
      const bool wanted = std::find(wanted_.begin(), wanted_.end(), id) != wanted_.end();
      InputKind kind = forward_.input_kind(id);
      if (kind != InputKind::tangent) kind = wanted ? InputKind::parameter : InputKind::input;
      drafted_[forward_.position(id)] =
          draft_.add_input(kind, forward_.type(id), forward_.origin(id));
    }
    int count = 0;
    for (const std::size_t place : differentiable_)
      tangents_.push_back(b_.placeholder(InputKind::tangent,
                                         draft_.unused_name(fmt::format("tangents_{}", ++count)),
                                         forward_.type(forward_.results[place])));
  }

  void add_forward() {
    Numbering numbering(forward_);
    for (const NodeId id : forward_.order()) {
      if (forward_[id].op == Op::placeholder) continue;
      drafted_[forward_.position(id)] =
          copy_node(forward_, id, draft_, numbering.origin(forward_, id),
                    [&](NodeId operand) { return drafted(operand); });
    }
    for (const auto& [alias, id] : forward_.aliases()) draft_.add_alias(alias, drafted(id));
  }

  void seed() {
    for (std::size_t i = 0; i < tangents_.size(); ++i)
      seeds_.push_back({drafted(forward_.results[differentiable_[i]]), tangents_[i]});
  }

  const Graph& forward_;
  std::vector<NodeId> wanted_;
  std::vector<std::size_t> differentiable_;
  Graph draft_;                  // in a pool of its own
  std::vector<NodeId> drafted_;  // by position in the forward graph
  std::vector<Value> tangents_;
  Builder b_;
  autodiff::Gaps gaps_;
  std::vector<Seed> seeds_;
  std::vector<DerivativeStep>* steps_;
};

Diagnostics bad_results(const Graph& graph, const std::vector<std::size_t>& places) {
  Diagnostics wrong;
  for (const std::size_t place : places)
    if (place >= graph.results.size() || !is_floating(graph.type(graph.results[place]).dtype))
      wrong.push_back(
          error(fmt::format("result {} {}", place,
                            place >= graph.results.size()
                                ? fmt::format("is not there: there are {}", graph.results.size())
                                : "is not real: it has no tangent")));
  return wrong;
}

}  // namespace

Result<Graph> differentiate(const Graph& forward, const GradOptions& options,
                            std::vector<DerivativeStep>* steps) {
  for (const NodeId gradient : forward.gradients)
    if (gradient.valid()) return error("the graph has gradients: it is a joint graph already");
  const auto wanted = autodiff::wanted_inputs(forward, options.wanted);
  if (!wanted) return wanted.diagnostics();
  const auto places = options.differentiable ? *options.differentiable
                                             : autodiff::differentiable_results(forward, *wanted);
  Diagnostics wrong = bad_results(forward, places);
  if (!wrong.empty()) return wrong;
  return Differentiation(forward, *wanted, places, steps).run();
}

Differentiability differentiability(Op op) {
  if (op == Op::getitem) return Differentiability::rule;
  const autodiff::Row* row = autodiff::find_row(op);
  if (row == nullptr) return Differentiability::none;
  return row->kind == autodiff::RowKind::constant ? Differentiability::constant
                                                  : Differentiability::rule;
}

std::string_view reason_without_derivative(Op op) {
  const autodiff::Row* row = autodiff::find_row(op);
  return row == nullptr ? std::string_view() : row->reason;
}

}  // namespace recut

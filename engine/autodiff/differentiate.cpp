#include "engine/autodiff/differentiate.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/autodiff/tape.h"
#include "engine/autodiff/wanted.h"
#include "engine/ir/rebuild.h"

namespace recut {
namespace {

using autodiff::Seed;

// Nodes without a sequence number get one each, above those that there are, so that forward and
// backward can be told to be partners.
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
  Differentiation(const Graph& forward, std::vector<NodeId> wanted,
                  std::vector<std::size_t> differentiable)
      : forward_(forward),
        wanted_(std::move(wanted)),
        differentiable_(std::move(differentiable)),
        joint_(forward.fresh()),
        b_(joint_) {}

  Result<Graph> run() {
    add_inputs();
    add_forward();
    const auto gradients = autodiff::pull_back(b_, forward_.order(), seeds_, wanted_, gaps_);
    if (!gaps_.empty()) return gaps_.diagnostics();
    if (b_.complaint()) return *b_.complaint();
    joint_.results = forward_.results;
    for (const NodeId id : forward_.inputs()) {
      if (forward_.input_kind(id) == InputKind::tangent) continue;
      const auto at = std::find(wanted_.begin(), wanted_.end(), id);
      joint_.gradients.push_back(
          at == wanted_.end() ? NodeId()
                              : gradients[static_cast<std::size_t>(at - wanted_.begin())].id());
    }
    return without_dead_nodes(joint_);
  }

 private:
  void add_inputs() {
    for (const NodeId id : forward_.inputs()) {
      const bool wanted = std::find(wanted_.begin(), wanted_.end(), id) != wanted_.end();
      InputKind kind = forward_.input_kind(id);
      if (kind != InputKind::tangent) kind = wanted ? InputKind::parameter : InputKind::input;
      joint_.add_input(kind, forward_.type(id), forward_.origin(id));
    }
    int count = 0;
    for (const std::size_t place : differentiable_) {
      const NodeId result = forward_.results[place];
      const Value tangent = b_.placeholder(InputKind::tangent,
                                           joint_.unused_name(fmt::format("tangents_{}", ++count)),
                                           forward_.type(result));
      seeds_.push_back({result, tangent});
    }
  }

  void add_forward() {
    Numbering numbering(forward_);
    for (const NodeId id : forward_.order()) {
      const Node& node = forward_[id];
      if (node.op == Op::placeholder) continue;
      joint_.append(node.op, node.arguments, node.outputs, numbering.origin(forward_, id));
    }
    for (const auto& [alias, id] : forward_.aliases()) joint_.add_alias(alias, id);
  }

  const Graph& forward_;
  std::vector<NodeId> wanted_;
  std::vector<std::size_t> differentiable_;
  Graph joint_;
  Builder b_;
  autodiff::Gaps gaps_;
  std::vector<Seed> seeds_;
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

Result<Graph> differentiate(const Graph& forward, const GradOptions& options) {
  for (const NodeId gradient : forward.gradients)
    if (gradient.valid()) return error("the graph has gradients: it is a joint graph already");
  const auto wanted = autodiff::wanted_inputs(forward, options.wanted);
  if (!wanted) return wanted.diagnostics();
  const auto places = options.differentiable ? *options.differentiable
                                             : autodiff::differentiable_results(forward, *wanted);
  Diagnostics wrong = bad_results(forward, places);
  if (!wrong.empty()) return wrong;
  return Differentiation(forward, *wanted, places).run();
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

#include "engine/passes/padded_operands.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/ir/call.h"
#include "engine/passes/freezing/rewriter.h"

namespace recut {
namespace {

using Zeros = PaddedOperands::Zeros;
using Pad = PaddedOperands::Pad;

std::int64_t elements_behind(const Shape& shape, std::size_t dim) {
  std::int64_t count = 1;
  while (++dim < shape.size()) count *= shape[dim];
  return count;
}

// Maps the zeros of one shape to another shape of the same elements in order. Two dimensions
// correspond if their sizes and the numbers of elements behind them agree. Nullopt if a padded
// dimension has no counterpart.
std::optional<Zeros> moved(const Zeros& zeros, const Shape& from, const Shape& to) {
  Zeros there(to.size(), 0);
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (zeros[d] == 0) continue;
    std::size_t e = 0;
    while (e < to.size() &&
           (to[e] != from[d] || elements_behind(to, e) != elements_behind(from, d)))
      ++e;
    if (e == to.size()) return std::nullopt;
    there[e] = zeros[d];
  }
  return there;
}

// The operand's dimension for each dimension of a permutation.
std::vector<std::size_t> permutation(const Graph& graph, NodeId id) {
  const Call::TypesOf types_of = [&](NodeId n) { return graph.pool().types_of(n); };
  std::vector<std::size_t> dims;
  for (const std::int64_t d : Call(graph.op(id), graph[id].arguments, types_of).integers("dims"))
    dims.push_back(static_cast<std::size_t>(wrap_dimension(d, graph.type(id).rank()).value()));
  return dims;
}

// The zeros of a view's operand from those of the view, and the reverse.
std::optional<Zeros> beneath(const Graph& graph, NodeId view, const Zeros& zeros) {
  const Node& node = graph[view];
  if (node.op == Op::view)
    return moved(zeros, node.type().shape, graph.type(node.operands.front()).shape);
  if (node.op != Op::permute) return std::nullopt;
  const auto dims = permutation(graph, view);
  Zeros below(zeros.size(), 0);
  for (std::size_t d = 0; d < dims.size(); ++d) below[dims[d]] = zeros[d];
  return below;
}
std::optional<Zeros> above(const Graph& graph, NodeId view, const Zeros& zeros) {
  const Node& node = graph[view];
  if (node.op == Op::view)
    return moved(zeros, graph.type(node.operands.front()).shape, node.type().shape);
  if (node.op != Op::permute) return std::nullopt;
  Zeros over;
  for (const std::size_t d : permutation(graph, view)) over.push_back(zeros[d]);
  return over;
}

Pad pad_of(const Zeros& zeros) {
  Pad pad;
  for (std::size_t d = zeros.size(); d-- > 0;) pad.insert(pad.end(), {0, zeros[d]});
  return pad;
}

// The pad of a constant_pad_nd that adds only zeros to a dense value; nullopt for other calls.
std::optional<Pad> own_pad(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (node.op != Op::constant_pad_nd || !is_contiguous(graph.type(node.operands.front())))
    return std::nullopt;
  const Call::TypesOf types_of = [&](NodeId n) { return graph.pool().types_of(n); };
  const Call call(graph.op(id), node.arguments, types_of);
  const double value = call.scalar("value").real;
  Pad pad = call.integers("pad");
  pad.resize(2 * node.type().shape.size(), 0);
  if (value != 0 || std::signbit(value) ||
      std::any_of(pad.begin(), pad.end(), [](std::int64_t p) { return p < 0; }))
    return std::nullopt;
  return pad;
}

// The same view of the padded operand.
NodeId viewed(const Graph& from, NodeId view, Graph& to, NodeId operand, const Zeros& zeros,
              std::string_view name) {
  const Node& node = from[view];
  if (node.op == Op::permute)
    return FreezingRewriter::make(to, node.op, {operand, node.arguments[1]}, name);
  Shape shape = node.type().shape;
  for (std::size_t d = 0; d < shape.size(); ++d) shape[d] += zeros[d];
  return FreezingRewriter::make(to, node.op, {operand, Argument(shape)}, name);
}

}  // namespace

PaddedOperands::PaddedOperands(const Graph& from)
    : from_(from),
      users_(from),
      pinned_(from),
      successors_(from.order().begin(), from.order().end()) {}

PaddedOperands::PadTarget PaddedOperands::pad_target_of(NodeId old, const Zeros& zeros) const {
  PadTarget target{{}, old, zeros, {}, {}};
  while (const auto below = beneath(from_, target.base, target.zeros)) {
    target.views.emplace_back(target.base, target.zeros);
    target.base = from_[target.base].operands.front();
    target.zeros = *below;
  }
  if (!is_contiguous(from_.type(target.base))) target = {{}, old, zeros, {}, {}};
  target.pad = pad_of(target.zeros);
  if (const auto own = own_pad(from_, target.base)) {
    target.widens = target.base;
    for (std::size_t i = 0; i < own->size(); ++i) target.pad[i] += (*own)[i];
  }
  return target;
}

void PaddedOperands::request(NodeId old, const Zeros& zeros) {
  const PadTarget target = pad_target_of(old, zeros);
  if (target.widens.valid() && !pinned_.contains(target.widens) &&
      may_widen(target.widens, target.zeros))
    wider_.emplace(target.widens, target.pad);
}

bool PaddedOperands::is_output(NodeId old) const {
  const auto among = [&](const std::vector<NodeId>& outputs) {
    return std::find(outputs.begin(), outputs.end(), old) != outputs.end();
  };
  return among(from_.results) || among(from_.gradients);
}

bool PaddedOperands::may_widen(NodeId old, const Zeros& zeros) const {
  if (is_output(old)) return false;
  const auto users = users_.of(old);
  return std::all_of(users.begin(), users.end(), [&](NodeId user) {
    if (!from_.op(user).is(kView)) return true;
    const auto over = above(from_, user, zeros);
    return over && may_widen(user, *over);
  });
}

std::optional<NodeId> PaddedOperands::widened(Graph& to, NodeId old,
                                              const std::vector<Argument>& arguments) {
  const auto found = wider_.find(old);
  if (found == wider_.end()) return std::nullopt;
  const std::string& name = from_.node_name(old);
  NodeId part = pad_once(to, *arguments.front().get<NodeId>(), found->second, name + ".wider");
  const Shape& shape = from_.type(old).shape;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (to.type(part).shape[d] != shape[d])
      part = FreezingRewriter::make(
          to, Op::slice_Tensor,
          {part, Argument(static_cast<std::int64_t>(d)), Argument(0), Argument(shape[d])}, name);
  return part;
}

NodeId PaddedOperands::padded(Graph& to, NodeId old, const Zeros& zeros, std::string_view name) {
  const PadTarget target = pad_target_of(old, zeros);
  const NodeId base = target.widens.valid() ? from_[target.widens].operands.front() : target.base;
  NodeId made = pad_once(to, successors_[from_.position(base)], target.pad, name);
  for (std::size_t v = target.views.size(); v-- > 0;)
    made = viewed(from_, target.views[v].first, to, made, target.views[v].second, name);
  return made;
}

NodeId PaddedOperands::pad_once(Graph& to, NodeId value, const Pad& pad, std::string_view name) {
  const auto [entry, fresh] = made_.try_emplace({value, pad});
  if (fresh)
    entry->second = FreezingRewriter::make(to, Op::constant_pad_nd, {value, Argument(pad)}, name);
  return entry->second;
}

}  // namespace recut

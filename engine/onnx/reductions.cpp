// Reductions and running sums.
#include <fmt/core.h>

#include <algorithm>

#include "engine/onnx/lowering.h"

namespace recut::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// The axes to reduce, sorted. Without axes each element is reduced by itself: squares and
// logarithms still apply.
struct Reduced {
  Ints axes;
  bool keep = true;
};

Reduced reduced(const Lowering& node) {
  Reduced what{{}, node.integer("keepdims", 1) != 0};
  const auto given = node.axes(1);
  for (const std::int64_t axis : given.value_or(Ints()))
    what.axes.push_back(node.axis(axis, node.rank(0)));
  std::sort(what.axes.begin(), what.axes.end());
  what.axes.erase(std::unique(what.axes.begin(), what.axes.end()), what.axes.end());
  if (what.axes.empty() && node.integer("noop_with_empty_axes", 0) == 0)
    for (std::int64_t i = 0; i < node.rank(0); ++i) what.axes.push_back(i);
  return what;
}

NodeId summed(Lowering& node, NodeId id, const Reduced& what) {
  if (what.axes.empty()) return id;
  const DType dtype = node.type(id).dtype;
  const NodeId sum = node.make(Op::sum_dim_IntList, {id, Argument(what.axes), what.keep});
  return node.convert(sum, dtype);  // PyTorch sums integers in 64 bits
}

NodeId squares(Lowering& node, NodeId id) { return node.make(Op::mul_Tensor, {id, id}); }

template <NodeId (*reduce)(Lowering&, NodeId, const Reduced&)>
Lowered reduction(Lowering& node) {
  const Reduced what = reduced(node);
  const NodeId x = node.in(0), result = reduce(node, x, what);
  if (result == x) return {node.value(0)};
  return Lowering::one(node, result);
}

template <Op op>
NodeId plain(Lowering& node, NodeId id, const Reduced& what) {
  if (what.axes.empty()) return id;  // of one element, all of these are that element
  return node.make(op, {id, Argument(what.axes), what.keep});
}

NodeId product(Lowering& node, NodeId id, const Reduced& what) {
  const DType dtype = node.type(id).dtype;
  for (std::size_t i = what.axes.size(); i-- > 0;)
    id = node.make(Op::prod_dim_int, {id, what.axes[i], what.keep});
  return node.convert(id, dtype);
}

NodeId absolute(Lowering& node, NodeId id, const Reduced& what) {
  return summed(node, node.make(Op::abs, {id}), what);
}
NodeId squared(Lowering& node, NodeId id, const Reduced& what) {
  return summed(node, squares(node, id), what);
}
NodeId length(Lowering& node, NodeId id, const Reduced& what) {
  return node.make(Op::sqrt, {squared(node, id, what)});
}
NodeId log_sum(Lowering& node, NodeId id, const Reduced& what) {
  return node.make(Op::log, {summed(node, id, what)});
}

template <Op op>
Lowered index_of(Lowering& node) {
  const std::int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  const bool keep = node.integer("keepdims", 1) != 0;
  if (node.integer("select_last_index", 0) == 0)
    return Lowering::one(node, node.make(op, {node.in(0), axis, keep}));
  // The first one from the end.
  const std::int64_t size = node.type(0).shape[static_cast<std::size_t>(axis)];
  const NodeId backwards = node.make(Op::flip, {node.in(0), Argument(Ints{axis})});
  const NodeId index = node.make(op, {backwards, axis, keep});
  return Lowering::one(node, node.make(Op::rsub_Scalar, {index, size - 1}));
}

// Exclusive: without the element itself. Reverse: from the end.
Lowered running_sum(Lowering& node) {
  const std::int64_t axis = node.axis(node.whole(1, "axis"), node.rank(0));
  const bool reverse = node.integer("reverse", 0) != 0;
  const DType dtype = node.type(0).dtype;
  const NodeId x = reverse ? node.make(Op::flip, {node.in(0), Argument(Ints{axis})}) : node.in(0);
  NodeId id = node.convert(node.make(Op::cumsum, {x, axis}), dtype);
  if (node.integer("exclusive", 0) != 0) id = node.make(Op::sub_Tensor, {id, x});
  if (reverse) id = node.make(Op::flip, {id, Argument(Ints{axis})});
  return Lowering::one(node, id);
}

}  // namespace

std::vector<OperatorLowering> reduction_lowerings() {
  return {
      {"ReduceSum", reduction<summed>},
      {"ReduceMean", reduction<plain<Op::mean_dim>>},
      {"ReduceMax", reduction<plain<Op::amax>>},
      {"ReduceMin", reduction<plain<Op::amin>>},
      {"ReduceProd", reduction<product>},
      {"ReduceL1", reduction<absolute>},
      {"ReduceL2", reduction<length>},
      {"ReduceSumSquare", reduction<squared>},
      {"ReduceLogSum", reduction<log_sum>},
      {"ReduceLogSumExp", reduction<plain<Op::logsumexp>>},
      {"ArgMax", index_of<Op::argmax>},
      {"ArgMin", index_of<Op::argmin>},
      {"CumSum", running_sum},
  };
}

}  // namespace recut::onnx

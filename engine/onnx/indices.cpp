// Gather and scatter operators.
#include <fmt/core.h>

#include "engine/onnx/lowering.h"

namespace recut::onnx {
namespace {

NodeId wide(Lowering& node, std::size_t input) { return node.convert(node.in(input), DType::i64); }

// Slices at indices along one axis. Negative indices count from the end, in ONNX and in aten.index.
Lowered gather(Lowering& node) {
  const std::int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  if (const auto index = node.number(1, 0))
    return Lowering::one(node, node.make(Op::select_int, {node.in(0), axis, *index}));
  ArgumentList indices(static_cast<std::size_t>(axis), None{});
  indices.emplace_back(wide(node, 1));
  return Lowering::one(node, node.make(Op::index_Tensor, {node.in(0), std::move(indices)}));
}

// Non-negative indices, for PyTorch operators that take no others. Out-of-range indices stay out of
// range.
NodeId from_front(Lowering& node, std::size_t input, std::int64_t size) {
  const NodeId indices = wide(node, input);
  const NodeId negative = node.make(Op::lt_Scalar, {indices, 0});
  const NodeId counted = node.make(Op::add_Tensor, {indices, size});
  return node.make(Op::where_self, {negative, counted, indices});
}

Lowered gather_elements(Lowering& node) {
  const std::int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  const std::int64_t size = node.type(0).shape[static_cast<std::size_t>(axis)];
  return Lowering::one(node, node.make(Op::gather, {node.in(0), axis, from_front(node, 1, size)}));
}

Lowered scatter_elements(Lowering& node) {
  if (node.text("reduction", "none") != "none")
    node.refuse("a reduction of what meets at an index");
  const std::int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  const std::int64_t size = node.type(0).shape[static_cast<std::size_t>(axis)];
  return Lowering::one(
      node, node.make(Op::scatter_src, {node.in(0), axis, from_front(node, 1, size), node.in(2)}));
}

// The last dimension of `input` holds one index for each of the first dimensions of the data.
ArgumentList index_columns(Lowering& node, std::size_t input) {
  const NodeId indices = wide(node, input);
  const Shape shape = node.shape(indices);
  if (shape.empty() || shape.back() > node.rank(0)) node.refuse("more indices than dimensions");
  ArgumentList columns;
  for (std::int64_t i = 0; i < shape.back(); ++i)
    columns.emplace_back(node.make(Op::select_int, {indices, -1, i}));
  return columns;
}

Lowered gather_nd(Lowering& node) {
  if (node.integer("batch_dims", 0) != 0) node.refuse("batch dimensions");
  return Lowering::one(node, node.make(Op::index_Tensor, {node.in(0), index_columns(node, 1)}));
}

Lowered scatter_nd(Lowering& node) {
  const std::string reduction = node.text("reduction", "none");
  if (reduction != "none" && reduction != "add")
    node.refuse("a reduction of what meets at an index");
  return Lowering::one(node, node.make(Op::index_put, {node.in(0), index_columns(node, 1),
                                                       node.in(2), reduction == "add"}));
}

Lowered top_k(Lowering& node) {
  const auto count = node.integers(1, "count");
  if (count.size() != 1) node.refuse("its count is no single number");
  const NodeId both =
      node.make(Op::topk, {node.in(0), count[0], node.axis(node.integer("axis", -1), node.rank(0)),
                           node.integer("largest", 1) != 0, node.integer("sorted", 1) != 0});
  return {Lowering::one(node, node.item(both, 0))[0], Lowering::one(node, node.item(both, 1))[0]};
}

// Off and on values along a new axis, on at the index. An index beyond the depth gives off values
// only.
Lowered one_hot(Lowering& node) {
  const std::int64_t depth = node.whole(1, "depth");
  const auto values = as_reals(node.known(2, "values"));
  if (values.size() != 2 || depth <= 0) node.refuse("its depth or values are not as expected");
  const std::int64_t axis = node.axis(node.integer("axis", -1), node.rank(0) + 1);
  const NodeId indices = node.make(Op::unsqueeze, {from_front(node, 0, depth), axis});
  Shape shape(static_cast<std::size_t>(node.rank(0)) + 1, 1);
  shape[static_cast<std::size_t>(axis)] = depth;
  const NodeId counted = node.reshape(node.make(Op::arange, {depth, DType::i64}), shape);
  const NodeId hit = node.make(Op::eq_Tensor, {indices, counted});
  const auto full = [&](double value) {
    return node.make(Op::full, {Argument(Shape{}), value, node.type(2).dtype});
  };
  const NodeId on = full(values[1]), off = full(values[0]);
  return Lowering::one(node, node.make(Op::where_self, {hit, on, off}));
}

}  // namespace

std::vector<OperatorLowering> index_lowerings() {
  return {
      {"Gather", gather},        {"GatherElements", gather_elements},
      {"GatherND", gather_nd},   {"ScatterElements", scatter_elements},
      {"ScatterND", scatter_nd}, {"TopK", top_k},
      {"OneHot", one_hot},       {"Scatter", scatter_elements, 11},
  };
}

}  // namespace recut::onnx

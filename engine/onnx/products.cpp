// Matrix products, lowered to mm, addmm and bmm like PyTorch's decompositions.
#include <fmt/core.h>

#include "engine/onnx/lowering.h"

namespace recut::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

Ints joined(std::span<const std::int64_t> batch, std::initializer_list<std::int64_t> matrix) {
  Ints shape(batch.begin(), batch.end());
  shape.insert(shape.end(), matrix);
  return shape;
}

std::span<const std::int64_t> batch_of(const Shape& shape) {
  return std::span(shape).first(shape.size() - 2);
}

// [batch…, n, k] as [batches, n, k], with the batch of the product.
NodeId batches(Lowering& node, NodeId id, const Shape& batch) {
  const Shape shape = node.shape(id);
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const Ints whole = joined(batch, {rows, columns});
  if (shape != whole) id = node.make(Op::expand, {id, Argument(whole)});
  return node.reshape(id, {element_count(batch), rows, columns});
}

// Products of operands with at least two dimensions each.
NodeId product(Lowering& node, NodeId left, NodeId right) {
  const Shape a = node.shape(left), b = node.shape(right);
  if (a.size() == 2 && b.size() == 2) return node.make(Op::mm, {left, right});
  if (b.size() == 2) {  // one matrix for all rows
    const NodeId rows =
        node.reshape(left, {element_count(std::span(a).first(a.size() - 1)), a.back()});
    const NodeId flat = node.make(Op::mm, {rows, right});
    return node.reshape(flat, joined(batch_of(a), {a[a.size() - 2], b[1]}));
  }
  const auto batch = broadcast(Shape(batch_of(a).begin(), batch_of(a).end()),
                               Shape(batch_of(b).begin(), batch_of(b).end()));
  if (!batch) node.refuse(batch.diagnostics().front().message);
  const NodeId first = batches(node, left, *batch), second = batches(node, right, *batch);
  const NodeId flat = node.make(Op::bmm, {first, second});
  return node.reshape(flat, joined(*batch, {a[a.size() - 2], b.back()}));
}

// A vector on the left is a row, on the right a column; the added dimension is removed again.
Lowered matmul(Lowering& node) {
  NodeId left = node.in(0), right = node.in(1);
  const bool row = node.rank(0) == 1, column = node.rank(1) == 1;
  if (node.rank(0) == 0 || node.rank(1) == 0) node.refuse("a number among the factors");
  if (row) left = node.make(Op::unsqueeze, {left, 0});
  if (column) right = node.make(Op::unsqueeze, {right, 1});
  NodeId id = product(node, left, right);
  if (row) id = node.make(Op::squeeze_dim, {id, -2});
  if (column) id = node.make(Op::squeeze_dim, {id, -1});
  return Lowering::one(node, id);
}

// alpha * A' B' + beta * C.
Lowered gemm(Lowering& node) {
  const auto transposed = [&](NodeId id, std::string_view attribute) {
    return node.integer(attribute, 0) != 0 ? node.make(Op::permute, {id, Argument(Ints{1, 0})})
                                           : id;
  };
  if (node.rank(0) != 2 || node.rank(1) != 2) node.refuse("factors that are no matrices");
  const NodeId a = transposed(node.in(0), "transA"), b = transposed(node.in(1), "transB");
  const double alpha = node.real("alpha", 1), beta = node.real("beta", 1);
  const auto factor = [](double x) { return x == 1 ? Argument() : Argument(x); };
  if (node.has(2))
    return Lowering::one(node,
                         node.make(Op::addmm, {node.in(2), a, b, factor(beta), factor(alpha)}));
  const NodeId id = node.make(Op::mm, {a, b});
  return Lowering::one(node, alpha == 1 ? id : node.make(Op::mul_Tensor, {id, alpha}));
}

}  // namespace

std::vector<OperatorLowering> product_lowerings() { return {{"MatMul", matmul}, {"Gemm", gemm}}; }

}  // namespace recut::onnx

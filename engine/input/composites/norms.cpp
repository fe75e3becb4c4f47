// Composites of norms: of vectors and matrices, a matrix's condition, and weights of their own
// length.
#include "engine/input/composite_operators.h"

#include <cmath>
#include <optional>

namespace recut {
namespace {

using Dims = std::vector<std::int64_t>;

Value operand_in(Builder& b, const Call& call, std::string_view parameter = "self") {
  return b.value(call.node(parameter));
}

Value converted(Builder& b, const Value& x, const Call& call) {
  const auto dtype = call.maybe_dtype("dtype");
  return dtype ? b.convert(x, *dtype) : x;
}

// The two dimensions of matrices, counted from the front; none where they aren't two of x.
struct MatrixDims {
  std::int64_t rows = 0, columns = 0;
};
std::optional<MatrixDims> matrix_dims(const Value& x, const Dims& dims) {
  if (dims.size() != 2) return std::nullopt;
  const auto rows = wrap_dimension(dims[0], x.rank()), columns = wrap_dimension(dims[1], x.rank());
  if (!rows || !columns || *rows == *columns) return std::nullopt;
  return MatrixDims{*rows, *columns};
}

Value vector_norm(Builder& b, const Value& x, double order, const Dims& dims, bool keep) {
  return b(Op::linalg_vector_norm, {x, order, dims, keep});
}

// The singular values of the matrices, in a new last dimension.
Value singular_values(Builder& b, const Value& x, MatrixDims matrix) {
  Dims order;
  for (std::int64_t d = 0; d < x.rank(); ++d)
    if (d != matrix.rows && d != matrix.columns) order.push_back(d);
  order.push_back(matrix.rows);
  order.push_back(matrix.columns);
  return b(Op::linalg_svdvals, {b.permute(x, order)});
}

// Numbers of matrices in the shape that a reduction of them has.
Value reduced_shape(Builder& b, const Value& numbers, const Value& x, MatrixDims matrix,
                    bool keep) {
  Shape shape;
  for (std::int64_t d = 0; d < x.rank(); ++d)
    if (d != matrix.rows && d != matrix.columns)
      shape.push_back(x.size(d));
    else if (keep)
      shape.push_back(1);
  return b.view(numbers, shape);
}

// By the largest or the smallest sum along the other dimension, or singular value.
Expansion matrix_norm(Builder& b, const Value& x, double order, const Dims& dims, bool keep) {
  const auto matrix = matrix_dims(x, dims);
  const double size = std::abs(order);
  if (!matrix || (size != 1 && size != 2 && !std::isinf(size))) return Expansion::none();
  const Op extreme = order > 0 ? Op::amax : Op::amin;
  if (size == 2) {
    const Value values = singular_values(b, x, *matrix);
    return reduced_shape(b, b(extreme, {values, Dims{-1}}), x, *matrix, keep);
  }
  const std::int64_t summed = size == 1 ? matrix->rows : matrix->columns;
  const std::int64_t compared = size == 1 ? matrix->columns : matrix->rows;
  const Value sums = b.sum(b(Op::abs, {x}), {summed}, true);
  return reduced_shape(b, b(extreme, {sums, Dims{compared}, true}), x, *matrix, keep);
}

Expansion matrix_norm_by_name(Builder& b, const Value& x, std::string_view order, const Dims& dims,
                              bool keep) {
  const auto matrix = matrix_dims(x, dims);
  if (!matrix || (order != "fro" && order != "nuc")) return Expansion::none();
  if (order == "fro") return vector_norm(b, x, 2, dims, keep);
  return reduced_shape(b, b.sum(singular_values(b, x, *matrix), {-1}), x, *matrix, keep);
}

Expansion linalg_matrix_norm(Builder& b, const Call& call) {
  return matrix_norm(b, converted(b, operand_in(b, call), call), call.scalar("ord").real,
                     call.integers("dim"), call.boolean("keepdim"));
}
Expansion linalg_matrix_norm_by_name(Builder& b, const Call& call) {
  return matrix_norm_by_name(b, converted(b, operand_in(b, call), call), call.text("ord"),
                             call.integers("dim"), call.boolean("keepdim"));
}

Dims all_dims(const Value& x) {
  Dims dims;
  for (std::int64_t d = 0; d < x.rank(); ++d) dims.push_back(d);
  return dims;
}

// Without an order: of all elements. With one: of vectors, or of matrices of two dimensions.
Expansion linalg_norm(Builder& b, const Call& call) {
  const Value x = converted(b, operand_in(b, call), call);
  const bool keep = call.boolean("keepdim");
  const Dims dims = call.given("dim") ? call.integers("dim") : all_dims(x);
  if (!call.given("ord")) return vector_norm(b, x, 2, dims, keep);
  const double order = call.scalar("ord").real;
  if (dims.size() == 2) return matrix_norm(b, x, order, dims, keep);
  return dims.size() == 1 ? Expansion(vector_norm(b, x, order, dims, keep)) : Expansion::none();
}
Expansion linalg_norm_by_name(Builder& b, const Call& call) {
  const Value x = converted(b, operand_in(b, call), call);
  const Dims dims = call.given("dim") ? call.integers("dim") : all_dims(x);
  return matrix_norm_by_name(b, x, call.text("ord"), dims, call.boolean("keepdim"));
}
Expansion nuclear_norm(Builder& b, const Call& call) {
  const bool some = call.op().parameter("dim").has_value();
  return matrix_norm_by_name(b, operand_in(b, call), "nuc",
                             some ? call.integers("dim") : Dims{0, 1}, call.boolean("keepdim"));
}

// All dimensions but one, which may count from the end; none where there is no such.
std::optional<Dims> dims_but(const Value& x, std::int64_t dim) {
  const auto kept = wrap_dimension(dim, x.rank());
  if (!kept) return std::nullopt;
  Dims others;
  for (std::int64_t d = 0; d < x.rank(); ++d)
    if (d != *kept) others.push_back(d);
  return others;
}

// Of every slice along a dimension; -1 stands for no dimension, and gives the norm of all elements.
std::optional<Value> norm_except(Builder& b, const Value& v, double power, std::int64_t dim) {
  if (dim == -1) return vector_norm(b, v, power, all_dims(v), false);
  const auto others = dims_but(v, dim);
  return others ? std::optional(vector_norm(b, v, power, *others, true)) : std::nullopt;
}
Expansion norm_except_dim(Builder& b, const Call& call) {
  const auto norm = norm_except(b, operand_in(b, call, "v"),
                                static_cast<double>(call.integer("pow")), call.integer("dim"));
  return norm ? Expansion(*norm) : Expansion::none();
}

// A weight of its own length (Salimans and Kingma 2016), and the norms that it was divided by.
Expansion weight_and_norms(Builder& b, const Call& call) {
  const Value v = operand_in(b, call, "v"), g = operand_in(b, call, "g");
  const auto norms = norm_except(b, v, 2, call.integer("dim"));
  if (!norms) return Expansion::none();
  return std::vector<Value>{v * (g / *norms), *norms};
}
Expansion weight_norm(Builder& b, const Call& call) {
  Expansion both = weight_and_norms(b, call);
  if (both.applies) both.results.resize(1);
  return both;
}
Expansion weight_norm_backward(Builder& b, const Call& call) {
  const Value grad = operand_in(b, call, "grad_w"), v = operand_in(b, call, "saved_v"),
              g = operand_in(b, call, "saved_g"), norms = operand_in(b, call, "saved_norms");
  const auto others = dims_but(v, call.integer("dim"));
  if (!others) return Expansion::none();
  const Value along = b.sum(grad * v, *others, true);
  const Value grad_v = (g / norms) * (grad - v * (along / (norms * norms)));
  return std::vector<Value>{grad_v, along / norms};
}

Expansion frobenius_norm(Builder& b, const Call& call) {
  return vector_norm(b, operand_in(b, call), 2, call.integers("dim"), call.boolean("keepdim"));
}

// The largest singular value over the smallest, or the norm times that of the inverse.
Expansion condition(Builder& b, const Call& call) {
  const Value x = operand_in(b, call);
  const double order = call.given("p") ? call.scalar("p").real : 2;
  if (x.rank() < 2) return Expansion::none();
  if (std::abs(order) == 2) {
    const Value values = b(Op::linalg_svdvals, {x});
    const Value most = b(Op::select_int, {values, -1, 0});
    const Value least = b(Op::select_int, {values, -1, -1});
    return order > 0 ? most / least : least / most;
  }
  const Expansion norm = matrix_norm(b, x, order, {-2, -1}, false);
  const Expansion inverse = matrix_norm(b, b(Op::linalg_inv, {x}), order, {-2, -1}, false);
  if (!norm.applies || !inverse.applies) return Expansion::none();
  return norm.results[0] * inverse.results[0];
}

}  // namespace

std::vector<CompositeRow> norm_composites() {
  return {
      {"aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
       frobenius_norm},
      {"aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], bool keepdim=False, "
       "*, ScalarType? dtype=None) -> Tensor",
       linalg_matrix_norm},
      {"aten::linalg_matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], bool "
       "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
       linalg_matrix_norm_by_name},
      {"aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, "
       "ScalarType? dtype=None) -> Tensor",
       linalg_norm},
      {"aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, "
       "ScalarType? dtype=None) -> Tensor",
       linalg_norm_by_name},
      {"aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor", nuclear_norm},
      {"aten::nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor",
       nuclear_norm},
      {"aten::norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor", norm_except_dim},
      {"aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)",
       weight_and_norms},
      {"aten::_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, "
       "Tensor saved_norms, int dim) -> (Tensor, Tensor)",
       weight_norm_backward},
      {"aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", weight_norm},
      {"aten::linalg_cond(Tensor self, Scalar? p=None) -> Tensor", condition},
  };
}

}  // namespace recut

// Helpers for writing formulas, besides the operators of the builder.
#pragma once

#include <cmath>
#include <initializer_list>

#include "engine/autodiff/derivative_rule.h"

namespace recut::autodiff {

// Element-wise operators whose second operand may be a number of the call.
inline Value times(const Value& a, const CallArgument& b) {
  return a.valid() && !b.invalid ? (*a.builder())(Op::mul_Tensor, {a, b}) : Value();
}
inline Value over(const Value& a, const CallArgument& b) {
  return a.valid() && !b.invalid ? (*a.builder())(Op::div_Tensor, {a, b}) : Value();
}

inline Value unary(Op op, const Value& x) { return x.valid() ? (*x.builder())(op, {x}) : x; }
inline Value binary(Op op, const Value& x, const CallArgument& y) {
  return x.valid() && !y.invalid ? (*x.builder())(op, {x, y}) : Value();
}

// `value` where the condition holds, 0 elsewhere; and the reverse.
inline Value keep_where(const Value& condition, const Value& value) {
  if (!condition.valid() || !value.valid()) return {};
  Builder& b = *value.builder();
  return b.where(condition, value, b.full({}, 0, value.dtype(), value.type().device));
}
inline Value zero_where(const Value& condition, const Value& value) {
  if (!condition.valid() || !value.valid()) return {};
  Builder& b = *value.builder();
  return b.where(condition, b.full({}, 0, value.dtype(), value.type().device), value);
}
// A number where the condition holds, `value` elsewhere.
inline Value number_where(const Value& condition, double number, const Value& value) {
  if (!condition.valid() || !value.valid()) return {};
  Builder& b = *value.builder();
  return b.where(condition, b.full({}, number, value.dtype(), value.type().device), value);
}

// Evaluates factors and terms in order. The operands of one C++ * or + are evaluated in an
// unspecified order, which would make the order of new nodes depend on the compiler.
Value product(std::initializer_list<Value> factors);
Value total(std::initializer_list<Value> terms);

inline Value power(const Value& x, double exponent) {
  return x.valid() ? (*x.builder())(Op::pow_Tensor_Scalar, {x, exponent}) : x;
}
inline Value squared(const Value& x) { return x * x; }
inline Value both(const Value& a, const Value& b) { return binary(Op::logical_and, a, b); }
inline Value either(const Value& a, const Value& b) { return binary(Op::logical_or, a, b); }
inline Value negated(const Value& a) { return unary(Op::logical_not, a); }

// The gradient of a reduction in a shape that broadcasts against the operand: reduced dimensions
// stand again with length 1. No dims are all of them.
Value with_dims_kept(const Value& reduced, const Shape& shape, std::vector<std::int64_t> dims,
                     bool keepdim);
// The number of elements in these dimensions.
std::int64_t elements_in(const Shape& shape, const std::vector<std::int64_t>& dims);

// A list of n numbers; a list of one number is repeated.
inline std::vector<std::int64_t> filled_up(std::vector<std::int64_t> list, std::size_t n) {
  if (list.size() == 1) list.resize(n, list.front());
  return list;
}

// Reverse mode over a written-out expression: gradients of `y`, a function of the call's operands,
// from the gradient of y. Decompositions of backward operators use it. One entry for each of
// `operands`, invalid if y does not depend on it.
std::vector<Value> gradients_of(VjpContext& ctx, const Value& y, const Value& gradient,
                                const std::vector<Value>& operands);

// The `reduction` of a loss (0 none, 1 mean, 2 sum) applied to its elements.
Value reduced(const Value& elements, std::int64_t reduction);

constexpr double kPi = 3.14159265358979323846;
constexpr double kLn2 = 0.69314718055994530942;
constexpr double kLn10 = 2.30258509299404568402;
constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

// Trivial formulas: a zero gradient, and the gradient passed on unchanged.
inline Value nothing(VjpContext&) { return {}; }
inline Value same(VjpContext& ctx) { return ctx.grad(); }

// Both operands in the result's dtype.
inline Value x_of(VjpContext& ctx) { return ctx.b.convert(ctx["self"], ctx.out_type().dtype); }
inline Value y_of(VjpContext& ctx) { return ctx.b.convert(ctx["other"], ctx.out_type().dtype); }

// Matrices: transposed, multiplied, and a vector as a column.
inline Value t(const Value& m) { return m.valid() ? m.builder()->transpose(m) : m; }
inline Value mul(const Value& a, const Value& b) {
  return a.valid() && b.valid() ? a.builder()->matmul(a, b) : Value();
}
inline Value column(const Value& v) { return (*v.builder())(Op::unsqueeze, {v, -1}); }

}  // namespace recut::autodiff

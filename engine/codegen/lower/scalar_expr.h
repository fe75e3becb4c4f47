// Scalar expressions, so that formulas read like arithmetic: a + b * exp(c). A plain number takes
// the type of the other operand.
//
// An expression is an immutable tree. Its operators are emitted when its value is requested,
// operands from left to right, so the order of statements does not depend on the order in which a
// C++ compiler evaluates arguments.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "engine/codegen/lower/builder.h"

namespace recut::loop {

class ScalarExpr {
 public:
  ScalarExpr(Builder* builder, ValueId value);

  static ScalarExpr constant(Builder* builder, DType type, double number);
  static ScalarExpr constant(Builder* builder, DType type, std::int64_t number);
  static ScalarExpr apply(ScalarOp op, std::vector<ScalarExpr> operands, DType type,
                          DType stored = DType::none);

  DType type() const { return type_; }
  bool real() const { return is_floating(type_); }
  Builder* builder() const { return builder_; }

  // Emits the expression into the open block, unless it has a visible value, and gives that value.
  ValueId id() const;

  // A constant of the same type.
  ScalarExpr like(double number) const { return constant(builder_, type_, number); }
  // Converts to another type; `narrowed` rounds as a store and load in that dtype would.
  ScalarExpr to(DType target) const;
  // A bitcast to a type of the same size.
  ScalarExpr reinterpreted(DType target) const {
    return apply(ScalarOp::reinterpret, {*this}, target);
  }
  ScalarExpr narrowed(DType stored) const {
    return apply(ScalarOp::narrow, {*this}, type_, stored);
  }

 private:
  struct Tree;
  ScalarExpr(Builder* builder, DType type, std::shared_ptr<const Tree> tree)
      : builder_(builder), type_(type), tree_(std::move(tree)) {}

  Builder* builder_;
  DType type_;
  std::shared_ptr<const Tree> tree_;
};

inline ScalarExpr operate(ScalarOp op, const ScalarExpr& a) {
  return ScalarExpr::apply(op, {a}, a.type());
}
inline ScalarExpr operate(ScalarOp op, const ScalarExpr& a, const ScalarExpr& b) {
  return ScalarExpr::apply(op, {a, b}, a.type());
}
inline ScalarExpr compare(ScalarOp op, const ScalarExpr& a, const ScalarExpr& b) {
  return ScalarExpr::apply(op, {a, b}, DType::boolean);
}

#define RECUT_SCALAR_EXPR_BINARY(name, combine, op)                  \
  inline ScalarExpr name(const ScalarExpr& a, const ScalarExpr& b) { \
    return combine(ScalarOp::op, a, b);                              \
  }                                                                  \
  inline ScalarExpr name(const ScalarExpr& a, double b) {            \
    return combine(ScalarOp::op, a, a.like(b));                      \
  }                                                                  \
  inline ScalarExpr name(double a, const ScalarExpr& b) {            \
    return combine(ScalarOp::op, b.like(a), b);                      \
  }
RECUT_SCALAR_EXPR_BINARY(operator+, operate, add)
RECUT_SCALAR_EXPR_BINARY(operator-, operate, sub)
RECUT_SCALAR_EXPR_BINARY(operator*, operate, mul)
RECUT_SCALAR_EXPR_BINARY(operator/, operate, div)
RECUT_SCALAR_EXPR_BINARY(operator==, compare, eq)
RECUT_SCALAR_EXPR_BINARY(operator!=, compare, ne)
RECUT_SCALAR_EXPR_BINARY(operator<, compare, lt)
RECUT_SCALAR_EXPR_BINARY(operator<=, compare, le)
RECUT_SCALAR_EXPR_BINARY(operator>, compare, gt)
RECUT_SCALAR_EXPR_BINARY(operator>=, compare, ge)
RECUT_SCALAR_EXPR_BINARY(operator&, operate, bit_and)
RECUT_SCALAR_EXPR_BINARY(operator|, operate, bit_or)
RECUT_SCALAR_EXPR_BINARY(operator^, operate, bit_xor)
RECUT_SCALAR_EXPR_BINARY(larger, operate, max)
RECUT_SCALAR_EXPR_BINARY(smaller, operate, min)
RECUT_SCALAR_EXPR_BINARY(pow, operate, pow)
RECUT_SCALAR_EXPR_BINARY(atan2, operate, atan2)
RECUT_SCALAR_EXPR_BINARY(hypot, operate, hypot)
RECUT_SCALAR_EXPR_BINARY(copysign, operate, copysign)
RECUT_SCALAR_EXPR_BINARY(rem, operate, rem)
RECUT_SCALAR_EXPR_BINARY(quotient, operate, quotient)
RECUT_SCALAR_EXPR_BINARY(shift_left, operate, shift_left)
RECUT_SCALAR_EXPR_BINARY(shift_right, operate, shift_right)
#undef RECUT_SCALAR_EXPR_BINARY

#define RECUT_SCALAR_EXPR_UNARY(name) \
  inline ScalarExpr name(const ScalarExpr& a) { return operate(ScalarOp::name, a); }
RECUT_SCALAR_EXPR_UNARY(abs)
RECUT_SCALAR_EXPR_UNARY(sqrt)
RECUT_SCALAR_EXPR_UNARY(floor)
RECUT_SCALAR_EXPR_UNARY(ceil)
RECUT_SCALAR_EXPR_UNARY(trunc)
RECUT_SCALAR_EXPR_UNARY(nearest)
RECUT_SCALAR_EXPR_UNARY(exp)
RECUT_SCALAR_EXPR_UNARY(exp2)
RECUT_SCALAR_EXPR_UNARY(expm1)
RECUT_SCALAR_EXPR_UNARY(log)
RECUT_SCALAR_EXPR_UNARY(log2)
RECUT_SCALAR_EXPR_UNARY(log10)
RECUT_SCALAR_EXPR_UNARY(log1p)
RECUT_SCALAR_EXPR_UNARY(sin)
RECUT_SCALAR_EXPR_UNARY(cos)
RECUT_SCALAR_EXPR_UNARY(tan)
RECUT_SCALAR_EXPR_UNARY(asin)
RECUT_SCALAR_EXPR_UNARY(acos)
RECUT_SCALAR_EXPR_UNARY(atan)
RECUT_SCALAR_EXPR_UNARY(sinh)
RECUT_SCALAR_EXPR_UNARY(cosh)
RECUT_SCALAR_EXPR_UNARY(tanh)
RECUT_SCALAR_EXPR_UNARY(asinh)
RECUT_SCALAR_EXPR_UNARY(acosh)
RECUT_SCALAR_EXPR_UNARY(atanh)
RECUT_SCALAR_EXPR_UNARY(erf)
RECUT_SCALAR_EXPR_UNARY(erfc)
RECUT_SCALAR_EXPR_UNARY(lgamma)
#undef RECUT_SCALAR_EXPR_UNARY

inline ScalarExpr operator-(const ScalarExpr& a) { return operate(ScalarOp::neg, a); }
inline ScalarExpr operator!(const ScalarExpr& a) { return operate(ScalarOp::bit_not, a); }

inline ScalarExpr select(const ScalarExpr& condition, const ScalarExpr& a, const ScalarExpr& b) {
  return ScalarExpr::apply(ScalarOp::select, {condition, a, b}, a.type());
}

inline ScalarExpr is_nan(const ScalarExpr& a) { return a != a; }
inline ScalarExpr is_infinite(const ScalarExpr& a) { return abs(a) == HUGE_VAL; }

}  // namespace recut::loop

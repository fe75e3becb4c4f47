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

class Quantity {
 public:
  Quantity(Builder* builder, ValueId value);

  static Quantity constant(Builder* builder, DType type, double number);
  static Quantity constant(Builder* builder, DType type, std::int64_t number);
  static Quantity applied(ScalarOp op, std::vector<Quantity> operands, DType type,
                          DType stored = DType::none);

  DType type() const { return type_; }
  bool real() const { return is_floating(type_); }
  Builder* builder() const { return builder_; }

  // Emits the expression into the open block, unless it has a visible value, and gives that value.
  ValueId id() const;

  // A constant of the same type.
  Quantity like(double number) const { return constant(builder_, type_, number); }
  // Converts to another type; `narrowed` rounds as a store and load in that dtype would.
  Quantity to(DType wanted) const;
  // A bitcast to a type of the same size.
  Quantity reinterpreted(DType wanted) const {
    return applied(ScalarOp::reinterpret, {*this}, wanted);
  }
  Quantity narrowed(DType stored) const {
    return applied(ScalarOp::narrow, {*this}, type_, stored);
  }

 private:
  struct Tree;
  Quantity(Builder* builder, DType type, std::shared_ptr<const Tree> tree)
      : builder_(builder), type_(type), tree_(std::move(tree)) {}

  Builder* builder_;
  DType type_;
  std::shared_ptr<const Tree> tree_;
};

inline Quantity operate(ScalarOp op, const Quantity& a) {
  return Quantity::applied(op, {a}, a.type());
}
inline Quantity operate(ScalarOp op, const Quantity& a, const Quantity& b) {
  return Quantity::applied(op, {a, b}, a.type());
}
inline Quantity compare(ScalarOp op, const Quantity& a, const Quantity& b) {
  return Quantity::applied(op, {a, b}, DType::boolean);
}

#define RECUT_QUANTITY_PAIR(name, combine, op)                 \
  inline Quantity name(const Quantity& a, const Quantity& b) { \
    return combine(ScalarOp::op, a, b);                        \
  }                                                            \
  inline Quantity name(const Quantity& a, double b) {          \
    return combine(ScalarOp::op, a, a.like(b));                \
  }                                                            \
  inline Quantity name(double a, const Quantity& b) { return combine(ScalarOp::op, b.like(a), b); }
RECUT_QUANTITY_PAIR(operator+, operate, add)
RECUT_QUANTITY_PAIR(operator-, operate, sub)
RECUT_QUANTITY_PAIR(operator*, operate, mul)
RECUT_QUANTITY_PAIR(operator/, operate, div)
RECUT_QUANTITY_PAIR(operator==, compare, eq)
RECUT_QUANTITY_PAIR(operator!=, compare, ne)
RECUT_QUANTITY_PAIR(operator<, compare, lt)
RECUT_QUANTITY_PAIR(operator<=, compare, le)
RECUT_QUANTITY_PAIR(operator>, compare, gt)
RECUT_QUANTITY_PAIR(operator>=, compare, ge)
RECUT_QUANTITY_PAIR(operator&, operate, bit_and)
RECUT_QUANTITY_PAIR(operator|, operate, bit_or)
RECUT_QUANTITY_PAIR(operator^, operate, bit_xor)
RECUT_QUANTITY_PAIR(larger, operate, max)
RECUT_QUANTITY_PAIR(smaller, operate, min)
RECUT_QUANTITY_PAIR(pow, operate, pow)
RECUT_QUANTITY_PAIR(atan2, operate, atan2)
RECUT_QUANTITY_PAIR(hypot, operate, hypot)
RECUT_QUANTITY_PAIR(copysign, operate, copysign)
RECUT_QUANTITY_PAIR(rest, operate, rest)
RECUT_QUANTITY_PAIR(quotient, operate, quotient)
RECUT_QUANTITY_PAIR(shift_left, operate, shift_left)
RECUT_QUANTITY_PAIR(shift_right, operate, shift_right)
#undef RECUT_QUANTITY_PAIR

#define RECUT_QUANTITY_FUNCTION(name) \
  inline Quantity name(const Quantity& a) { return operate(ScalarOp::name, a); }
RECUT_QUANTITY_FUNCTION(abs)
RECUT_QUANTITY_FUNCTION(sqrt)
RECUT_QUANTITY_FUNCTION(floor)
RECUT_QUANTITY_FUNCTION(ceil)
RECUT_QUANTITY_FUNCTION(trunc)
RECUT_QUANTITY_FUNCTION(nearest)
RECUT_QUANTITY_FUNCTION(exp)
RECUT_QUANTITY_FUNCTION(exp2)
RECUT_QUANTITY_FUNCTION(expm1)
RECUT_QUANTITY_FUNCTION(log)
RECUT_QUANTITY_FUNCTION(log2)
RECUT_QUANTITY_FUNCTION(log10)
RECUT_QUANTITY_FUNCTION(log1p)
RECUT_QUANTITY_FUNCTION(sin)
RECUT_QUANTITY_FUNCTION(cos)
RECUT_QUANTITY_FUNCTION(tan)
RECUT_QUANTITY_FUNCTION(asin)
RECUT_QUANTITY_FUNCTION(acos)
RECUT_QUANTITY_FUNCTION(atan)
RECUT_QUANTITY_FUNCTION(sinh)
RECUT_QUANTITY_FUNCTION(cosh)
RECUT_QUANTITY_FUNCTION(tanh)
RECUT_QUANTITY_FUNCTION(asinh)
RECUT_QUANTITY_FUNCTION(acosh)
RECUT_QUANTITY_FUNCTION(atanh)
RECUT_QUANTITY_FUNCTION(erf)
RECUT_QUANTITY_FUNCTION(erfc)
RECUT_QUANTITY_FUNCTION(lgamma)
#undef RECUT_QUANTITY_FUNCTION

inline Quantity operator-(const Quantity& a) { return operate(ScalarOp::neg, a); }
inline Quantity operator!(const Quantity& a) { return operate(ScalarOp::bit_not, a); }

inline Quantity select(const Quantity& condition, const Quantity& a, const Quantity& b) {
  return Quantity::applied(ScalarOp::select, {condition, a, b}, a.type());
}

inline Quantity is_nan(const Quantity& a) { return a != a; }
inline Quantity is_infinite(const Quantity& a) { return abs(a) == HUGE_VAL; }

}  // namespace recut::loop

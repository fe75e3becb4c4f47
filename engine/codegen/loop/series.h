// Scalars as trees of operators, and what operators that no machine has are in them. A tree stands
// nowhere until it is written down, operands before operators: so the order doesn't depend on the
// order in which a compiler evaluates arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

class Scalar {
 public:
  static Scalar value(ValueId id, DType type);
  static Scalar real(DType type, double number) { return constant(type, {number, 0}); }
  static Scalar whole(DType type, std::int64_t number) { return constant(type, {0, number}); }
  static Scalar constant(DType type, const Constant& constant);
  // Of constants the result is a constant.
  static Scalar apply(ScalarOp op, const std::vector<Scalar>& operands, DType type);

  DType type() const;
  // A constant of the same type.
  Scalar like(double number) const;
  // Appends what defines it to a block, each operator once, from a note; the tree's own value, and
  // where a name is given, by that name.
  ValueId write(Kernel& kernel, Block& block, std::uint32_t note, ValueId name = {}) const;

 private:
  struct Tree;
  explicit Scalar(std::shared_ptr<Tree> tree) : tree_(std::move(tree)) {}

  std::shared_ptr<Tree> tree_;
};

inline Scalar operate(ScalarOp op, const Scalar& a) { return Scalar::apply(op, {a}, a.type()); }
inline Scalar operate(ScalarOp op, const Scalar& a, const Scalar& b) {
  return Scalar::apply(op, {a, b}, a.type());
}
inline Scalar compare(ScalarOp op, const Scalar& a, const Scalar& b) {
  return Scalar::apply(op, {a, b}, DType::boolean);
}
inline Scalar select(const Scalar& condition, const Scalar& a, const Scalar& b) {
  return Scalar::apply(ScalarOp::select, {condition, a, b}, a.type());
}
inline Scalar converted(const Scalar& a, DType type) {
  return Scalar::apply(ScalarOp::convert, {a}, type);
}
inline Scalar reinterpreted(const Scalar& a, DType type) {
  return Scalar::apply(ScalarOp::reinterpret, {a}, type);
}

#define RECUT_SCALAR_PAIR(name, combine, op)                                                    \
  inline Scalar name(const Scalar& a, const Scalar& b) { return combine(ScalarOp::op, a, b); }  \
  inline Scalar name(const Scalar& a, double b) { return combine(ScalarOp::op, a, a.like(b)); } \
  inline Scalar name(double a, const Scalar& b) { return combine(ScalarOp::op, b.like(a), b); }
RECUT_SCALAR_PAIR(operator+, operate, add)
RECUT_SCALAR_PAIR(operator-, operate, sub)
RECUT_SCALAR_PAIR(operator*, operate, mul)
RECUT_SCALAR_PAIR(operator/, operate, div)
RECUT_SCALAR_PAIR(operator<, compare, lt)
RECUT_SCALAR_PAIR(operator>, compare, gt)
RECUT_SCALAR_PAIR(operator==, compare, eq)
#undef RECUT_SCALAR_PAIR

// Bits, of one type.
inline Scalar operator&(const Scalar& a, const Scalar& b) {
  return operate(ScalarOp::bit_and, a, b);
}
inline Scalar operator|(const Scalar& a, const Scalar& b) {
  return operate(ScalarOp::bit_or, a, b);
}
inline Scalar operator^(const Scalar& a, const Scalar& b) {
  return operate(ScalarOp::bit_xor, a, b);
}
inline Scalar operator<<(const Scalar& a, std::int64_t by) {
  return operate(ScalarOp::shift_left, a, Scalar::whole(a.type(), by));
}
inline Scalar operator>>(const Scalar& a, std::int64_t by) {
  return operate(ScalarOp::shift_right, a, Scalar::whole(a.type(), by));
}

// What an operator becomes; null where it stays.
using Series = Scalar (*)(std::span<const Scalar> operands);
Series find_series(ScalarOp op, DType type);  // exp and its kin, random numbers
Series find_random_series(ScalarOp op);

}  // namespace recut::loop

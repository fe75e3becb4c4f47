// Scalar expressions as trees, and expansions of operators that no machine has. A tree isn't part
// of a kernel until it is written, operands before operators. So the order of statements doesn't
// depend on the order in which a C++ compiler evaluates arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

class ScalarTree {
 public:
  static ScalarTree value(ValueId id, DType type);
  static ScalarTree real(DType type, double number) { return constant(type, {number, 0}); }
  static ScalarTree whole(DType type, std::int64_t number) { return constant(type, {0, number}); }
  static ScalarTree constant(DType type, const Constant& constant);
  // Folds constants.
  static ScalarTree apply(ScalarOp op, const std::vector<ScalarTree>& operands, DType type);

  DType type() const;
  // A constant of the same type.
  ScalarTree like(double number) const;
  // Appends the definitions of the tree to a block, each operator once, with a source location.
  // Returns the tree's value, which is `name` if that is given.
  ValueId write(Kernel& kernel, Block& block, std::uint32_t location, ValueId name = {}) const;

 private:
  struct Node;
  explicit ScalarTree(std::shared_ptr<Node> tree) : tree_(std::move(tree)) {}

  std::shared_ptr<Node> tree_;
};

inline ScalarTree operate(ScalarOp op, const ScalarTree& a) {
  return ScalarTree::apply(op, {a}, a.type());
}
inline ScalarTree operate(ScalarOp op, const ScalarTree& a, const ScalarTree& b) {
  return ScalarTree::apply(op, {a, b}, a.type());
}
inline ScalarTree compare(ScalarOp op, const ScalarTree& a, const ScalarTree& b) {
  return ScalarTree::apply(op, {a, b}, DType::boolean);
}
inline ScalarTree select(const ScalarTree& condition, const ScalarTree& a, const ScalarTree& b) {
  return ScalarTree::apply(ScalarOp::select, {condition, a, b}, a.type());
}
inline ScalarTree converted(const ScalarTree& a, DType type) {
  return ScalarTree::apply(ScalarOp::convert, {a}, type);
}
inline ScalarTree reinterpreted(const ScalarTree& a, DType type) {
  return ScalarTree::apply(ScalarOp::reinterpret, {a}, type);
}

#define RECUT_SCALAR_PAIR(name, combine, op)                         \
  inline ScalarTree name(const ScalarTree& a, const ScalarTree& b) { \
    return combine(ScalarOp::op, a, b);                              \
  }                                                                  \
  inline ScalarTree name(const ScalarTree& a, double b) {            \
    return combine(ScalarOp::op, a, a.like(b));                      \
  }                                                                  \
  inline ScalarTree name(double a, const ScalarTree& b) {            \
    return combine(ScalarOp::op, b.like(a), b);                      \
  }
RECUT_SCALAR_PAIR(operator+, operate, add)
RECUT_SCALAR_PAIR(operator-, operate, sub)
RECUT_SCALAR_PAIR(operator*, operate, mul)
RECUT_SCALAR_PAIR(operator/, operate, div)
RECUT_SCALAR_PAIR(operator<, compare, lt)
RECUT_SCALAR_PAIR(operator>, compare, gt)
RECUT_SCALAR_PAIR(operator==, compare, eq)
#undef RECUT_SCALAR_PAIR

// Bits, of one type.
inline ScalarTree operator&(const ScalarTree& a, const ScalarTree& b) {
  return operate(ScalarOp::bit_and, a, b);
}
inline ScalarTree operator|(const ScalarTree& a, const ScalarTree& b) {
  return operate(ScalarOp::bit_or, a, b);
}
inline ScalarTree operator^(const ScalarTree& a, const ScalarTree& b) {
  return operate(ScalarOp::bit_xor, a, b);
}
inline ScalarTree operator<<(const ScalarTree& a, std::int64_t by) {
  return operate(ScalarOp::shift_left, a, ScalarTree::whole(a.type(), by));
}
inline ScalarTree operator>>(const ScalarTree& a, std::int64_t by) {
  return operate(ScalarOp::shift_right, a, ScalarTree::whole(a.type(), by));
}

// The expansion of an operator; null if the operator is legal.
using ScalarExpansion = ScalarTree (*)(std::span<const ScalarTree> operands);
ScalarExpansion find_expansion(ScalarOp op, DType type);  // exp and its kin, random numbers
ScalarExpansion find_random_expansion(ScalarOp op);

// A constant of i64.
inline ScalarTree whole(std::int64_t value) { return ScalarTree::whole(DType::i64, value); }

}  // namespace recut::loop

#include "engine/codegen/lower/scalar_expr.h"

#include <cmath>
#include <functional>
#include <map>

#include "engine/support/check.h"

namespace recut::loop {

struct ScalarExpr::Tree {
  enum class Kind : std::uint8_t { value, constant, apply };
  Kind kind = Kind::value;
  Constant number;  // of a constant
  ScalarOp op = ScalarOp::add;
  std::vector<ScalarExpr> operands;
  DType stored = DType::none;
  ValueId value;  // of a value
};

ScalarExpr::ScalarExpr(Builder* builder, ValueId value)
    : builder_(builder), type_(builder->type(value)) {
  Tree tree;
  tree.value = value;
  tree_ = std::make_shared<const Tree>(std::move(tree));
}

ScalarExpr ScalarExpr::constant(Builder* builder, DType type, double number) {
  if (!is_floating(type)) return constant(builder, type, static_cast<std::int64_t>(number));
  Tree tree;
  tree.kind = Tree::Kind::constant;
  tree.number.real = number;
  return {builder, type, std::make_shared<const Tree>(std::move(tree))};
}

ScalarExpr ScalarExpr::constant(Builder* builder, DType type, std::int64_t number) {
  if (is_floating(type)) return constant(builder, type, static_cast<double>(number));
  Tree tree;
  tree.kind = Tree::Kind::constant;
  tree.number.integer = number;
  return {builder, type, std::make_shared<const Tree>(std::move(tree))};
}

ScalarExpr ScalarExpr::apply(ScalarOp op, std::vector<ScalarExpr> operands, DType type,
                             DType stored) {
  Builder* builder = operands.front().builder_;
  Tree tree;
  tree.kind = Tree::Kind::apply;
  tree.op = op;
  tree.operands = std::move(operands);
  tree.stored = stored;
  return {builder, type, std::make_shared<const Tree>(std::move(tree))};
}

// A node that occurs twice in the tree is emitted once; the builder merges it with earlier
// statements.
ValueId ScalarExpr::id() const {
  std::map<const Tree*, ValueId> emitted;
  const std::function<ValueId(const ScalarExpr&)> emit = [&](const ScalarExpr& expr) {
    const Tree& tree = *expr.tree_;
    if (tree.kind == Tree::Kind::value) {
      RECUT_CHECK(builder_->visible(tree.value), "a value is used inside of its block");
      return tree.value;
    }
    if (const auto known = emitted.find(&tree); known != emitted.end()) return known->second;
    std::vector<ValueId> operands;
    for (const ScalarExpr& operand : tree.operands) operands.push_back(emit(operand));
    ValueId& id = emitted[&tree];
    if (tree.kind == Tree::Kind::constant)
      id = is_floating(expr.type_) ? builder_->constant(expr.type_, tree.number.real)
                                   : builder_->constant(expr.type_, tree.number.integer);
    else if (tree.op == ScalarOp::narrow)
      id = builder_->narrow(operands.front(), tree.stored);
    else
      id = builder_->apply(tree.op, std::move(operands), expr.type_);
    return id;
  };
  return emit(*this);
}

// A constant is converted right here where that is exact.
ScalarExpr ScalarExpr::to(DType target) const {
  if (type_ == target) return *this;
  if (tree_->kind == Tree::Kind::constant && is_floating(target)) {
    const double number =
        is_floating(type_) ? tree_->number.real : static_cast<double>(tree_->number.integer);
    if (static_cast<double>(static_cast<float>(number)) == number)
      return constant(builder_, target, number);
  }
  return apply(ScalarOp::convert, {*this}, target);
}

}  // namespace recut::loop

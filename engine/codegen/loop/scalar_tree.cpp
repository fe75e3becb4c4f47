#include <optional>

#include "engine/codegen/loop/scalar_meaning.h"
#include "engine/codegen/loop/series.h"

namespace recut::loop {

struct Scalar::Tree {
  DType type = DType::f32;
  Expression expression;
  std::vector<Scalar> operands;
  ValueId id;  // once it is written
};

Scalar Scalar::value(ValueId id, DType type) {
  auto tree = std::make_shared<Tree>();
  tree->type = type;
  tree->id = id;
  return Scalar(std::move(tree));
}

Scalar Scalar::constant(DType type, const Constant& constant) {
  auto tree = std::make_shared<Tree>();
  tree->type = type;
  tree->expression = constant;
  return Scalar(std::move(tree));
}

Scalar Scalar::apply(ScalarOp op, const std::vector<Scalar>& operands, DType type) {
  const Apply apply{op, {}, DType::none};
  std::vector<Number> known;
  for (const Scalar& operand : operands)
    if (const auto* constant = std::get_if<Constant>(&operand.tree_->expression))
      if (!operand.tree_->id.valid()) known.push_back({constant->real, constant->integer});
  Number result;
  if (known.size() == operands.size() &&
      compute(apply, operands.back().type(), type, known, 0, result))
    return constant(type, {result.real, result.integer});
  auto tree = std::make_shared<Tree>();
  tree->type = type;
  tree->expression = apply;
  tree->operands = operands;
  return Scalar(std::move(tree));
}

DType Scalar::type() const { return tree_->type; }

Scalar Scalar::like(double number) const {
  return is_floating(type()) ? real(type(), number)
                             : whole(type(), static_cast<std::int64_t>(number));
}

ValueId Scalar::write(Kernel& kernel, Block& block, std::uint32_t note, ValueId name) const {
  if (tree_->id.valid()) return tree_->id;
  if (auto* apply = std::get_if<Apply>(&tree_->expression))
    for (const Scalar& operand : tree_->operands)
      apply->operands.push_back(operand.write(kernel, block, note));
  if (!name.valid()) {
    name = ValueId(static_cast<std::uint32_t>(kernel.values.size()));
    kernel.values.push_back({"", tree_->type});
  }
  tree_->id = name;
  block.push_back({Define{name, tree_->expression}, note});
  return name;
}

}  // namespace recut::loop

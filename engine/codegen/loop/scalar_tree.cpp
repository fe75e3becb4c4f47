#include <optional>

#include "engine/codegen/loop/expansions.h"
#include "engine/codegen/loop/scalar_semantics.h"

namespace recut::loop {

struct ScalarTree::Node {
  DType type = DType::f32;
  Expression expression;
  std::vector<ScalarTree> operands;
  ValueId id;  // once it is written
};

ScalarTree ScalarTree::value(ValueId id, DType type) {
  auto tree = std::make_shared<Node>();
  tree->type = type;
  tree->id = id;
  return ScalarTree(std::move(tree));
}

ScalarTree ScalarTree::constant(DType type, const Constant& constant) {
  auto tree = std::make_shared<Node>();
  tree->type = type;
  tree->expression = constant;
  return ScalarTree(std::move(tree));
}

ScalarTree ScalarTree::apply(ScalarOp op, const std::vector<ScalarTree>& operands, DType type) {
  const Apply apply{op, {}, DType::none};
  std::vector<Number> known;
  for (const ScalarTree& operand : operands)
    if (const auto* constant = std::get_if<Constant>(&operand.tree_->expression))
      if (!operand.tree_->id.valid()) known.push_back({constant->real, constant->integer});
  Number result;
  if (known.size() == operands.size() &&
      compute(apply, operands.back().type(), type, known, 0, result))
    return constant(type, {result.real, result.integer});
  auto tree = std::make_shared<Node>();
  tree->type = type;
  tree->expression = apply;
  tree->operands = operands;
  return ScalarTree(std::move(tree));
}

DType ScalarTree::type() const { return tree_->type; }

ScalarTree ScalarTree::like(double number) const {
  return is_floating(type()) ? real(type(), number)
                             : whole(type(), static_cast<std::int64_t>(number));
}

ValueId ScalarTree::write(Kernel& kernel, Block& block, std::uint32_t location,
                          ValueId name) const {
  if (tree_->id.valid()) return tree_->id;
  if (auto* apply = std::get_if<Apply>(&tree_->expression))
    for (const ScalarTree& operand : tree_->operands)
      apply->operands.push_back(operand.write(kernel, block, location));
  if (!name.valid()) {
    name = ValueId(static_cast<std::uint32_t>(kernel.values.size()));
    kernel.values.push_back({"", tree_->type});
  }
  tree_->id = name;
  block.push_back({Define{name, tree_->expression}, location});
  return name;
}

}  // namespace recut::loop

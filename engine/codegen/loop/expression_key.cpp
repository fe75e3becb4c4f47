#include "engine/codegen/loop/expression_key.h"

#include "engine/support/bits.h"

namespace recut::loop {

ExpressionKey key_of(DType type, const Expression& expression) {
  ExpressionKey key{expression.index(), type, {}, {}};
  auto& words = std::get<2>(key);
  if (const auto* constant = std::get_if<Constant>(&expression)) {
    words = {bit_cast<std::uint64_t>(constant->real),
             static_cast<std::uint64_t>(constant->integer)};
  } else if (const auto* number = std::get_if<IndexNumber>(&expression)) {
    std::get<3>(key) = number->index;
  } else if (const auto* load = std::get_if<Load>(&expression)) {
    words = {load->buffer.index, load->where.index};
    std::get<3>(key) = load->at;
  } else if (const auto* apply = std::get_if<Apply>(&expression)) {
    words = {static_cast<std::uint64_t>(apply->op), static_cast<std::uint64_t>(apply->stored)};
    for (const ValueId operand : apply->operands) words.push_back(operand.index);
  } else if (const auto* checked = std::get_if<Checked>(&expression)) {
    words = {checked->value.index, static_cast<std::uint64_t>(checked->below)};
  } else if (const auto* read = std::get_if<ReadAccumulator>(&expression)) {
    words = {read->accumulator.index};
  }
  return key;
}

bool is_pure(const Kernel& kernel, const Expression& expression) {
  if (const auto* load = std::get_if<Load>(&expression))
    return kernel[load->buffer].access == Access::read;
  return !std::holds_alternative<ReadAccumulator>(expression);
}

}  // namespace recut::loop

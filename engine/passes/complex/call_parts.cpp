#include "engine/passes/complex/call_parts.h"

#include <algorithm>

#include "engine/ir/promotion.h"

namespace recut::complex_parts {
namespace {

// Operands of these names choose elements. They are the same for both parts.
bool is_selector(std::string_view parameter) {
  constexpr std::string_view kSelectors[] = {"condition", "mask", "index", "indices", "repeats"};
  return std::find(std::begin(kSelectors), std::end(kSelectors), parameter) != std::end(kSelectors);
}

// Numbers of these names aren't values: they multiply or divide some.
bool is_factor(std::string_view parameter) {
  return parameter == "alpha" || parameter == "beta" || parameter == "correction";
}

Argument real_dtype(const Argument& argument) {
  const auto* dtype = argument.get<DType>();
  return dtype == nullptr ? argument : Argument(real_of(*dtype));
}

}  // namespace

DType CallParts::dtype() const {
  return real_of(is_complex(out.dtype) ? out.dtype : result_dtype(call));
}

bool CallParts::is_complex_operand(NodeId id) const { return is_complex(call.tensor(id).dtype); }

Parts CallParts::parts(NodeId operand) const {
  const auto converted = [&](const Part& part) {
    return part.is_tensor() ? Part(b.convert(part.tensor(), dtype())) : part;
  };
  if (!is_complex_operand(operand)) return {converted(operands_.real(operand)), {}};
  const Parts parts = operands_.parts(operand);
  return {converted(parts.re), converted(parts.im)};
}

Parts CallParts::operator[](std::string_view parameter) const {
  const NodeId operand = call.node(parameter);
  if (operand.valid()) return parts(operand);
  return {call.scalar(parameter).real, {}};
}

Parts CallParts::operator[](std::size_t parameter) const {
  return (*this)[call.op().parameters[parameter].name];
}

NodeId CallParts::part_of(NodeId operand, Which which) const {
  const TensorType& type = call.tensor(operand);
  const bool complex = is_complex_operand(operand);
  const Parts parts = complex ? operands_.parts(operand) : Parts{operands_.real(operand), {}};
  const DType dtype = complex ? real_of(type.dtype) : real_of(out.dtype);
  return (which == Which::re ? parts.re : parts.im).filled(b, dtype, type.shape, type.device).id();
}

std::vector<Argument> CallParts::arguments_of(Which which) const {
  std::vector<Argument> arguments;
  for (std::size_t p = 0; p < call.arguments().size(); ++p) {
    const Parameter& parameter = call.op().parameters[p];
    Argument& argument = arguments.emplace_back(real_dtype(call.arguments()[p]));
    const bool number = argument.get<double>() != nullptr ||
                        argument.get<std::int64_t>() != nullptr || argument.get<bool>() != nullptr;
    const bool value =
        parameter.kind == ParameterKind::scalar || parameter.kind == ParameterKind::tensor;
    if (number && value && which == Which::im && !is_factor(parameter.name)) argument = 0.0;
    for_each_node(argument, [&](NodeId& id) {
      id = is_selector(parameter.name) ? operands_.real(id).id() : part_of(id, which);
    });
  }
  return arguments;
}

bool CallParts::has_imaginary_operand() const {
  bool found = false;
  for (const Argument& argument : call.arguments())
    for_each_node(argument, [&](NodeId id) {
      found = found || (is_complex_operand(id) && !operands_.parts(id).is_real());
    });
  return found;
}

Parts CallParts::of_each() const {
  const Op op = call.op().op;
  const Value re = b.call(op, arguments_of(Which::re));
  if (!is_complex(out.dtype) || !has_imaginary_operand()) return {re, {}};
  return {re, b.call(op, arguments_of(Which::im))};
}

PartRule part_rule(Op op) {
  static const PartRules table = [] {
    PartRules rules(nullptr);
    add_arithmetic(rules);
    add_functions(rules);
    add_inverse_functions(rules);
    add_movements(rules);
    add_products(rules);
    add_reductions(rules);
    add_transforms(rules);
    return rules;
  }();
  return table[op];
}

}  // namespace recut::complex_parts

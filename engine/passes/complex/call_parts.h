// One call on complex values as rules of the pass complex_parts see it, and the table of rules.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/ir/call.h"
#include "engine/ir/operator_map.h"
#include "engine/passes/complex/parts.h"

namespace recut::complex_parts {

class CallParts {
 public:
  // The successors of operands in the new graph: of a complex one its parts, else a real value.
  struct Operands {
    std::function<Parts(NodeId)> parts;
    std::function<Value(NodeId)> real;
  };

  CallParts(Builder& builder, const Call& old, const TensorType& output, Operands operands)
      : b(builder), call(old), out(output), operands_(std::move(operands)) {}

  Builder& b;
  const Call& call;       // with the operands and types of the old graph
  const TensorType& out;  // the first output's type in the old graph

  // The dtype of the parts: the output's where that is complex, else that of all operands.
  DType dtype() const;

  // An operand's parts in that dtype: of a complex or real tensor, or of a number.
  Parts operator[](std::string_view parameter) const;
  Parts operator[](std::size_t parameter) const;
  Parts parts(NodeId operand) const;

  // A number that isn't an operand, such as alpha.
  double number(std::string_view parameter) const { return call.scalar(parameter).real; }

  // The call's arguments for one part of all values; positions and conditions are those of both.
  // Numbers are 0 in the imaginary part, and an absent part is a tensor of zeros.
  enum class Which : std::uint8_t { re, im };
  std::vector<Argument> arguments_of(Which which) const;
  // The operator on each part.
  Parts of_each() const;
  bool has_imaginary_operand() const;

 private:
  bool is_complex_operand(NodeId id) const;
  NodeId part_of(NodeId operand, Which which) const;

  Operands operands_;
};

// Gives the parts of the output; only the real one where that is real. None: the call stays.
using MaybeParts = std::optional<Parts>;
using PartRule = MaybeParts (*)(CallParts& c);
using PartRules = OperatorMap<PartRule>;

// The rule of an operator; null if it has none.
PartRule part_rule(Op op);

void add_arithmetic(PartRules& rules);
void add_functions(PartRules& rules);
void add_inverse_functions(PartRules& rules);
void add_movements(PartRules& rules);
void add_products(PartRules& rules);
void add_reductions(PartRules& rules);
void add_transforms(PartRules& rules);

}  // namespace recut::complex_parts

// Expressions of rules, in guards and in arguments of replacements.
//
// Every value is an Argument: a number, list, dtype, text or node. An expression may be undefined,
// such as a dimension that a tensor lacks or a number that is not known. An undefined guard does
// not hold.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/ir/argument.h"
#include "engine/ir/call.h"
#include "engine/rewrite/splat_values.h"

namespace recut {

struct Function;

struct Expression {
  enum class Kind : std::uint8_t { literal, variable, value, list, call };
  Kind kind = Kind::literal;
  Argument literal;
  std::size_t index = 0;               // of the variable (?name) or value (%name)
  const Function* function = nullptr;  // of a call; operators are functions too
  std::vector<Expression> items;       // of a list; operands of a call
};

// The environment of an expression. Unbound variables are absent, unbound values invalid.
struct Scope {
  std::span<const NodeId> values;
  std::span<const Argument> variables;
  const Call::TypesOf& types_of;
  // Null if the value is not known to be a splat.
  const std::function<const SplatValue*(NodeId)>& splat;

  const TensorType& type(NodeId id) const { return types_of(id).front(); }
};

std::optional<Argument> evaluate(const Expression& expression, const Scope& scope);

// Tells whether the expression is defined and true.
bool holds(const Expression& expression, const Scope& scope);

// An entry of the table of functions, which engine/rewrite/README.md documents for users.
struct Function {
  std::string_view name;  // "rank", or an operator: "+", "==", "and"
  std::size_t min_operands, max_operands;
  std::optional<Argument> (*evaluate)(const Scope& scope, std::span<const Argument> operands);
};
const Function* find_function(std::string_view name);  // null if there is none
std::span<const Function> all_functions();

}  // namespace recut

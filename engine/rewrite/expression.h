// Expressions of rules: what guards compare and what replacements take as arguments.
//
// A value is an Argument, so that numbers, lists, dtypes, texts and nodes are all of one kind. An
// expression may be undefined: a dimension that a tensor lacks, an element of no list, a number
// that isn't known. A guard that is undefined does not hold.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/ir/argument.h"
#include "engine/ir/call.h"
#include "engine/rewrite/uniform.h"

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

// What an expression reads. Unbound variables are absent, unbound values invalid.
struct Scope {
  std::span<const NodeId> values;
  std::span<const Argument> variables;
  const Call::TypesOf& types_of;
  // Null where the value isn't known to be the same in every element.
  const std::function<const UniformValue*(NodeId)>& uniform;

  const TensorType& type(NodeId id) const { return types_of(id).front(); }
};

std::optional<Argument> evaluate(const Expression& expression, const Scope& scope);

// Whether it is defined and true.
bool holds(const Expression& expression, const Scope& scope);

// A row of the table of functions: engine/rewrite/README.md tells users about each of them.
struct Function {
  std::string_view name;  // "rank", or an operator: "+", "==", "and"
  std::size_t least, most;
  std::optional<Argument> (*evaluate)(const Scope& scope, std::span<const Argument> operands);
};
const Function* find_function(std::string_view name);  // null where there is none
std::span<const Function> all_functions();

}  // namespace recut

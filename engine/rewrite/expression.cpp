#include "engine/rewrite/expression.h"

#include <algorithm>

namespace recut {
namespace {

std::optional<bool> truth(const std::optional<Argument>& value) {
  if (!value) return std::nullopt;
  const bool* b = value->get<bool>();
  return b == nullptr ? std::nullopt : std::optional(*b);
}

// `and` and `or` short-circuit; an undefined side counts as false.
std::optional<Argument> connected(const Expression& e, const Scope& scope) {
  const bool all = e.function->name == "and";
  const bool left = truth(evaluate(e.items[0], scope)).value_or(false);
  if (left != all) return Argument(left);
  return Argument(truth(evaluate(e.items[1], scope)).value_or(false));
}

std::optional<Argument> listed(const Expression& e, const Scope& scope) {
  ArgumentList items;
  for (const Expression& item : e.items) {
    auto value = evaluate(item, scope);
    if (!value) return std::nullopt;
    items.push_back(std::move(*value));
  }
  return Argument(std::move(items));
}

std::optional<Argument> called(const Expression& e, const Scope& scope) {
  if (e.function->name == "and" || e.function->name == "or") return connected(e, scope);
  std::vector<Argument> operands;
  for (const Expression& item : e.items) {
    auto value = evaluate(item, scope);
    if (!value) return std::nullopt;
    operands.push_back(std::move(*value));
  }
  return e.function->evaluate(scope, operands);
}

}  // namespace

std::optional<Argument> evaluate(const Expression& e, const Scope& scope) {
  switch (e.kind) {
    case Expression::Kind::literal:
      return e.literal;
    case Expression::Kind::variable:
      if (scope.variables[e.index].absent()) return std::nullopt;
      return scope.variables[e.index];
    case Expression::Kind::value:
      if (!scope.values[e.index].valid()) return std::nullopt;
      return Argument(scope.values[e.index]);
    case Expression::Kind::list:
      return listed(e, scope);
    case Expression::Kind::call:
      return called(e, scope);
  }
  return std::nullopt;
}

bool holds(const Expression& expression, const Scope& scope) {
  return truth(evaluate(expression, scope)).value_or(false);
}

const Function* find_function(std::string_view name) {
  const auto functions = all_functions();
  const auto it = std::find_if(functions.begin(), functions.end(),
                               [&](const Function& f) { return f.name == name; });
  return it == functions.end() ? nullptr : &*it;
}

}  // namespace recut

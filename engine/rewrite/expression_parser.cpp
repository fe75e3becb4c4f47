#include "engine/rewrite/expression_parser.h"

#include <fmt/core.h>

#include <algorithm>

namespace recut {
namespace {

constexpr int kDeepest = 64;

}  // namespace

Expression literal_expression(Argument value) {
  Expression e;
  e.literal = std::move(value);
  return e;
}

Expression value_expression(std::size_t index) {
  Expression e;
  e.kind = Expression::Kind::value;
  e.index = index;
  return e;
}

Expression variable_expression(std::size_t index) {
  Expression e;
  e.kind = Expression::Kind::variable;
  e.index = index;
  return e;
}

Expression call_expression(std::string_view function, std::vector<Expression> operands) {
  Expression e;
  e.kind = Expression::Kind::call;
  e.function = find_function(function);
  RECUT_CHECK(e.function != nullptr, "a function that the table lacks");
  e.items = std::move(operands);
  return e;
}

bool ExpressionParser::join(std::string_view function, Expression& left,
                            bool (ExpressionParser::*side)(Expression&)) {
  Expression right;
  if (!(this->*side)(right)) return false;
  std::vector<Expression> operands;
  operands.push_back(std::move(left));
  operands.push_back(std::move(right));
  left = call_expression(function, std::move(operands));
  return true;
}

bool ExpressionParser::parse_or(Expression& out) {
  if (!parse_and(out)) return false;
  while (accept("or"))
    if (!join("or", out, &ExpressionParser::parse_and)) return false;
  return true;
}

bool ExpressionParser::parse_and(Expression& out) {
  if (!parse_comparison(out)) return false;
  while (accept("and"))
    if (!join("and", out, &ExpressionParser::parse_comparison)) return false;
  return true;
}

bool ExpressionParser::take_comparison(std::string_view& name) {
  if (accept("<")) {
    name = accept("=") ? "<=" : "<";
  } else if (accept(">")) {
    name = accept("=") ? ">=" : ">";
  } else if (token_.is("=") || token_.is("!")) {
    name = token_.is("=") ? "==" : "!=";
    advance();
    return expect("=");
  }
  return true;
}

bool ExpressionParser::parse_comparison(Expression& out) {
  if (accept("not")) {
    Expression operand;
    if (depth_ >= kDeepest) return fail(fmt::format("nested deeper than {}", kDeepest));
    ++depth_;
    const bool taken = parse_comparison(operand);
    --depth_;
    if (!taken) return false;
    out = call_expression("not", {std::move(operand)});
    return true;
  }
  std::string_view name;
  if (!parse_sum(out) || !take_comparison(name)) return false;
  return name.empty() || join(name, out, &ExpressionParser::parse_sum);
}

bool ExpressionParser::parse_sum(Expression& out) {
  if (!parse_product(out)) return false;
  for (;;) {
    if (accept("+")) {
      if (!join("+", out, &ExpressionParser::parse_product)) return false;
    } else if (token_.kind == TokenKind::number && token_.text == "-") {
      advance();
      if (!join("-", out, &ExpressionParser::parse_product)) return false;
    } else if (token_.kind == TokenKind::number && token_.text[0] == '-') {
      // `a -1` reads as a difference: two values don't stand side by side.
      if (!join("+", out, &ExpressionParser::parse_product)) return false;
    } else {
      return true;
    }
  }
}

bool ExpressionParser::parse_product(Expression& out) {
  if (!parse_primary(out)) return false;
  for (;;) {
    if (accept("*")) {
      if (!join("*", out, &ExpressionParser::parse_primary)) return false;
    } else if (accept("/")) {
      if (!join("/", out, &ExpressionParser::parse_primary)) return false;
    } else {
      return true;
    }
  }
}

bool ExpressionParser::parse_primary(Expression& out) {
  if (depth_ >= kDeepest) return fail(fmt::format("nested deeper than {}", kDeepest));
  ++depth_;
  bool taken = false;
  if (token_.kind == TokenKind::reference) {
    out.kind = Expression::Kind::value;
    taken = find_value(out.index);
  } else if (token_.kind == TokenKind::number && token_.text == "-") {
    advance();
    Expression operand;
    taken = parse_primary(operand);
    if (taken) out = call_expression("-", {std::move(operand)});
  } else if (token_.kind == TokenKind::number) {
    taken = parse_number(out.literal);
  } else if (token_.kind == TokenKind::string) {
    out.literal = token_.text;
    advance();
    taken = true;
  } else if (accept("(")) {
    taken = parse_or(out) && expect(")");
  } else if (token_.is("[")) {
    taken = parse_list(out);
  } else if (accept("?")) {
    taken = parse_variable(out);
  } else if (token_.kind == TokenKind::word) {
    taken = is_value_keyword(token_.text) ? parse_value_keyword(out.literal) : parse_call(out);
  } else {
    fail(fmt::format("expected an expression, found {}", found()));
  }
  --depth_;
  return taken;
}

bool ExpressionParser::parse_variable_name(std::string& out) {
  return take_text(TokenKind::word, "a variable's name (?name)", out);
}

bool ExpressionParser::parse_variable(Expression& out) {
  const Token location = token_;
  std::string name;
  if (!parse_variable_name(name)) return false;
  const auto it = std::find(variables_.begin(), variables_.end(), name);
  if (it == variables_.end())
    return fail_at(location, fmt::format("?{} is bound nowhere above", name));
  out = variable_expression(static_cast<std::size_t>(it - variables_.begin()));
  return true;
}

bool ExpressionParser::find_value(std::size_t& out) {
  if (token_.kind != TokenKind::reference)
    return fail(fmt::format("expected a value (%name), found {}", found()));
  const auto it = std::find(values_.begin(), values_.end(), token_.text);
  if (it == values_.end())
    return fail(fmt::format("%{} is not defined before this line", token_.text));
  out = static_cast<std::size_t>(it - values_.begin());
  advance();
  return true;
}

bool ExpressionParser::parse_items(std::string_view close, std::vector<Expression>& out) {
  while (!token_.is(close)) {
    if (!parse_or(out.emplace_back())) return false;
    if (!accept(",")) break;
  }
  return expect(close);
}

bool ExpressionParser::parse_list(Expression& out) {
  advance();
  out.kind = Expression::Kind::list;
  return parse_items("]", out.items);
}

bool ExpressionParser::parse_call(Expression& out) {
  const Token location = token_;
  const Function* function = find_function(token_.text);
  if (function == nullptr) return fail(fmt::format("unknown function '{}'", token_.text));
  advance();
  std::vector<Expression> operands;
  if (!expect("(") || !parse_items(")", operands)) return false;
  if (operands.size() < function->min_operands || operands.size() > function->max_operands)
    return fail_at(location, fmt::format("{} takes {} arguments, found {}", function->name,
                                         function->max_operands, operands.size()));
  out = call_expression(function->name, std::move(operands));
  return true;
}

}  // namespace recut

#include "engine/rewrite/pattern_parser.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/external_operator.h"
#include "engine/support/text.h"

// Recursive descent with one token of look-ahead. A line defines one value or lists the results,
// and names only values above it. So the pattern is in topological order, and check_reached walks
// it once, backwards. Names become indices at once. The matcher knows no expressions in arguments:
//   mul.Tensor(%x, (?a * 2))  ⇒  mul.Tensor(%x, ?fresh), with the condition ?fresh == ?a * 2
// @optional is only recorded here, and rule_variants expands it. Invariant: every value leads to a
// result.

namespace recut {
namespace {

constexpr int kDeepestList = 8;

void mark_values(const PatternArgument& argument, std::vector<bool>& marked) {
  if (argument.kind == PatternArgument::Kind::value) marked[argument.index] = true;
  for (const PatternArgument& item : argument.items) mark_values(item, marked);
}

}  // namespace

bool PatternParser::parse_pattern() {
  const Token location = token_;
  if (!expect("{")) return false;
  for (;;) {
    skip_empty_lines();
    if (token_.is("}")) break;
    if (token_.kind == TokenKind::end_of_file)
      return fail("expected '}' at the end of the pattern, found the end of the file");
    if (!parse_pattern_line()) return false;
  }
  advance();
  return_lists();
  return check_reached(location);
}

bool PatternParser::parse_pattern_line() {
  const Token location = token_;
  if (accept("results")) return parse_pattern_results(location);
  std::string name;
  PatternNode node;
  if (!take_text(TokenKind::reference, "a definition (%name = …) or 'results'", name) ||
      !expect("="))
    return false;
  node.name = name;
  // The name is declared after the line: marks and arguments refer to names above.
  return parse_pattern_node(node) && add_value(location, name) && parse_marks(node) && end_line();
}

bool PatternParser::parse_pattern_node(PatternNode& node) {
  const Token location = token_;
  std::string word;
  if (!take_text(TokenKind::word, "'any', 'constant' or an operator", word)) return false;
  if (word == "any" || word == "constant") {
    node.kind = word == "any" ? PatternNode::Kind::any : PatternNode::Kind::constant;
    return !begins_type() || parse_type_pattern(node.type);
  }
  node.kind = PatternNode::Kind::call;
  if (word == "external" && token_.kind == TokenKind::word)
    return parse_external_pattern(location, node);
  node.op = find_operator_by_name(word);
  if (node.op == nullptr || node.op->is(kInput))
    return fail_unknown_operator(location, {"any", "constant", "external"});
  return parse_pattern_call(location, node);
}

bool PatternParser::parse_pattern_call(const Token& location, PatternNode& node) {
  node.arguments.resize(node.op->parameters.size());
  const auto parse_one = [&](std::size_t i) {
    return parse_pattern_argument(node.arguments[i], 0);
  };
  if (!parse_arguments(*node.op, parse_one)) return false;
  for (std::size_t i = 0; i < node.arguments.size(); ++i)
    if (node.arguments[i].kind == PatternArgument::Kind::absent &&
        !node.op->parameters[i].has_default && !node.op->parameters[i].optional)
      return fail_at(location, fmt::format("{} needs an argument for '{}' (_ matches any)",
                                           node.op->name, node.op->parameters[i].name));
  return !accept(":") || parse_type_pattern(node.type);
}

// external mine.scale3(%x, ?s, mode="a"): a call whose operator the table lacks.
bool PatternParser::parse_external_pattern(const Token& location, PatternNode& node) {
  ExternalSignature signature;
  const Token name = token_;
  if (!take_text(TokenKind::word, "the name of an operator", signature.target)) return false;
  if (find_operator_by_target(signature.target) != nullptr ||
      find_operator_by_name(signature.target) != nullptr)
    return fail_at(
        name, fmt::format("Recut knows {}: write it without 'external'", quote(signature.target)));
  if (!expect("(")) return false;
  while (!token_.is(")")) {
    const bool named =
        token_.kind == TokenKind::word && !is_value_keyword(token_.text) && !token_.is("_");
    if (!named && !signature.keywords.empty())
      return fail("an argument by position after one by name");
    if (named) {
      signature.keywords.push_back(token_.text);
      advance();
      if (!expect("=")) return false;
    } else {
      ++signature.positional;
    }
    if (!parse_pattern_argument(node.arguments.emplace_back(), 0)) return false;
    if (!accept(",")) break;
  }
  const auto op = external_operator(signature);
  if (!op) return fail_at(location, op.diagnostics().front().message);
  node.op = *op;
  node.arguments.resize(node.op->parameters.size());
  return expect(")") && (!accept(":") || parse_type_pattern(node.type));
}

// An external call gives a list of values where the pattern reads its items.
void PatternParser::return_lists() {
  for (const PatternNode& node : rule_.pattern) {
    if (node.kind != PatternNode::Kind::call || node.op->op != Op::getitem) continue;
    if (node.arguments.front().kind != PatternArgument::Kind::value) continue;
    PatternNode& source = rule_.pattern[node.arguments.front().index];
    if (source.kind != PatternNode::Kind::call || !is_external(source.op->op)) continue;
    ExternalSignature signature = signature_of(*source.op);
    signature.several = true;
    if (const auto op = external_operator(signature)) source.op = *op;
  }
}

bool PatternParser::parse_pattern_argument(PatternArgument& out, int depth) {
  using Kind = PatternArgument::Kind;
  if (token_.kind == TokenKind::reference) {
    out.kind = Kind::value;
    return find_value(out.index);
  }
  if (token_.is("[")) return parse_pattern_list(out, depth);
  if (token_.is("?")) {
    out.kind = Kind::variable;
    return parse_variable_index(out.index);
  }
  if (token_.is("_")) {
    out.kind = Kind::ignored;
    advance();
    return true;
  }
  if (token_.is("(")) return parse_computed_argument(out);
  out.kind = Kind::literal;
  if (token_.kind == TokenKind::number) return parse_number(out.literal);
  if (token_.kind == TokenKind::string) {
    out.literal = token_.text;
    advance();
    return true;
  }
  if (token_.kind == TokenKind::word && is_value_keyword(token_.text))
    return parse_value_keyword(out.literal);
  return fail(fmt::format("expected a value, a ?variable, _ or a literal, found {}", found()));
}

// (expression): a fresh variable, with a condition that it equals the expression.
bool PatternParser::parse_computed_argument(PatternArgument& out) {
  const Token location = token_;
  advance();
  Condition equal;
  Expression expected;
  if (!parse_expression(expected) || !expect(")")) return false;
  out.kind = PatternArgument::Kind::variable;
  out.index = variables_.size();
  variables_.push_back(fmt::format("({}:{})", location.line, location.column));
  std::vector<Expression> sides;
  sides.push_back(variable_expression(out.index));
  sides.push_back(std::move(expected));
  equal.expression = call_expression("==", std::move(sides));
  rule_.conditions.push_back(std::move(equal));
  return true;
}

// A list of literals is one literal.
bool PatternParser::parse_pattern_list(PatternArgument& out, int depth) {
  if (depth >= kDeepestList) return fail(fmt::format("lists nested deeper than {}", kDeepestList));
  advance();
  out.kind = PatternArgument::Kind::list;
  while (!token_.is("]")) {
    if (!parse_pattern_argument(out.items.emplace_back(), depth + 1)) return false;
    if (!accept(",")) break;
  }
  const auto is_literal = [](const PatternArgument& item) {
    return item.kind == PatternArgument::Kind::literal;
  };
  if (std::all_of(out.items.begin(), out.items.end(), is_literal)) {
    ArgumentList list;
    for (PatternArgument& item : out.items) list.push_back(std::move(item.literal));
    out = PatternArgument{PatternArgument::Kind::literal, Argument(std::move(list)), 0, {}};
  }
  return expect("]");
}

bool PatternParser::parse_variable_index(std::size_t& out) {
  std::string name;
  if (!expect("?") || !parse_variable_name(name)) return false;
  const auto it = std::find(variables_.begin(), variables_.end(), name);
  out = static_cast<std::size_t>(it - variables_.begin());
  if (it == variables_.end()) variables_.push_back(std::move(name));
  return true;
}

bool PatternParser::begins_type() const {
  return token_.is("?") || (token_.kind == TokenKind::word && token_.text != "none");
}

// floating[?n, _, 4], f32, ?dtype[…], number
bool PatternParser::parse_type_pattern(TypePattern& out) {
  using Kind = TypePattern::Kind;
  const Token location = token_;
  if (token_.is("?")) {
    out.kind = Kind::variable;
    if (!parse_variable_index(out.variable)) return false;
  } else {
    std::string word;
    if (!take_text(TokenKind::word, "a dtype, 'number', 'floating' or 'integral'", word))
      return false;
    const auto exact = dtype_from_short_name(word);
    if (word == "floating") {
      out.kind = Kind::floating;
    } else if (word == "integral") {
      out.kind = Kind::integral;
    } else if (exact) {
      out.kind = Kind::exact;
      out.dtype = *exact;
    } else if (word != "number") {
      return fail_at(location, fmt::format("expected a dtype, 'number', 'floating' or 'integral', "
                                           "found '{}'",
                                           word));
    }
  }
  return !token_.is("[") || parse_dimensions(out);
}

bool PatternParser::parse_dimensions(TypePattern& out) {
  advance();
  out.dims.emplace();
  while (!token_.is("]")) {
    TypePattern::Dimension& dim = out.dims->emplace_back();
    if (token_.is("?")) {
      if (!parse_variable_index(dim.variable.emplace())) return false;
    } else if (!accept("_") && !parse_whole_number(dim.length.emplace())) {
      return false;
    }
    if (!accept(",")) break;
  }
  return expect("]");
}

bool PatternParser::parse_marks(PatternNode& node) {
  bool optional = false;
  while (accept("@")) {
    const Token location = token_;
    if (accept("users")) {
      std::int64_t count = 0;
      if (!expect("(") || !parse_whole_number(count) || !expect(")")) return false;
      node.users = count;
    } else if (accept("commutative")) {
      if (node.kind != PatternNode::Kind::call || node.op->parameters.size() < 2)
        return fail_at(location, "@commutative is for calls with two operands");
      node.commutative = true;
    } else if (accept("optional")) {
      optional = true;
      if (!parse_optional(node)) return false;
    } else {
      return fail(fmt::format("expected 'users', 'commutative' or 'optional', found {}", found()));
    }
  }
  if (optional && node.users)
    return fail("a value can't be both @optional and of so many @users: it may be another's");
  rule_.pattern.push_back(std::move(node));
  return true;
}

// @optional(?scale = 1.0, %mask = none)
bool PatternParser::parse_optional(const PatternNode& node) {
  std::vector<bool> operands(values_.size());
  for (const PatternArgument& argument : node.arguments) mark_values(argument, operands);
  if (node.kind != PatternNode::Kind::call ||
      std::find(operands.begin(), operands.end(), true) == operands.end())
    return fail(
        "@optional is for calls: their first operand stands for them where they are missing");
  if (optional_.size() >= kMaxOptionalNodes)
    return fail(fmt::format("more than {} @optional values in one rule", kMaxOptionalNodes));
  OptionalNode optional{rule_.pattern.size(), {}, {}};
  if (accept("(")) {
    do {
      if (!parse_substitute(optional)) return false;
    } while (accept(","));
    if (!expect(")")) return false;
  }
  optional_.push_back(std::move(optional));
  return true;
}

bool PatternParser::parse_substitute(OptionalNode& optional) {
  if (token_.kind == TokenKind::reference) {
    std::size_t value = 0;
    if (!find_value(value) || !expect("=") || !expect("none")) return false;
    optional.absent_values.push_back(value);
    return true;
  }
  std::size_t variable = 0;
  PatternArgument literal;
  const Token location = token_;
  if (!parse_variable_index(variable) || !expect("=")) return false;
  if (!parse_pattern_argument(literal, 0)) return false;
  if (literal.kind != PatternArgument::Kind::literal)
    return fail_at(location, "a variable of a missing @optional node can only be a literal");
  optional.variables.emplace_back(variable, std::move(literal.literal));
  return true;
}

bool PatternParser::parse_pattern_results(const Token& location) {
  if (!rule_.results.empty()) return fail_at(location, "the pattern has 'results' already");
  do {
    const Token result = token_;
    std::size_t value = 0;
    if (!find_value(value)) return false;
    if (rule_.pattern[value].kind != PatternNode::Kind::call)
      return fail_at(result, "a result of a pattern has to be a call");
    if (std::find(rule_.results.begin(), rule_.results.end(), value) != rule_.results.end())
      return fail_at(result, fmt::format("%{} is a result already", result.text));
    rule_.results.push_back(value);
  } while (accept(","));
  return end_line();
}

// Every value must lead to a result; any other would never be bound.
bool PatternParser::check_reached(const Token& location) {
  if (rule_.results.empty()) return fail_at(location, "the pattern has no 'results'");
  std::vector<bool> reached(rule_.pattern.size());
  for (const std::size_t result : rule_.results) reached[result] = true;
  for (std::size_t i = reached.size(); i-- > 0;) {
    if (!reached[i])
      return fail_at(location, fmt::format("%{} leads to no result", rule_.pattern[i].name));
    for (const PatternArgument& argument : rule_.pattern[i].arguments)
      mark_values(argument, reached);
  }
  return true;
}

bool PatternParser::add_value(const Token& location, const std::string& name) {
  if (std::find(values_.begin(), values_.end(), name) != values_.end())
    return fail_at(location, fmt::format("%{} is defined twice", name));
  values_.push_back(name);
  return true;
}

}  // namespace recut

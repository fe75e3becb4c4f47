// Parses files of rules (engine/rewrite/README.md): clauses, replacements and samples; patterns are
// in pattern_parser.h. A recursive descent with one token of lookahead. After a fault the parser
// skips to the next line that begins with `rule`, so that one run reports up to 20 faults. Names
// are resolved to indices while reading: a clause sees only variables and values bound above it.
#include "engine/rewrite/rule_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/rewrite/pattern_parser.h"

namespace recut {
namespace {

constexpr std::size_t kMaxDiagnostics = 20;
constexpr std::size_t kMaxBlankBytes = 1 << 16;  // of comments before the first rule

class RuleTextParser : PatternParser {
 public:
  RuleTextParser(std::string_view text, std::string_view file_name)
      : PatternParser(text, file_name) {
    set_.file = std::string(file_name);
  }

  Result<RuleSet> run() {
    for (skip_empty_lines(); token_.kind != TokenKind::end_of_file; skip_empty_lines()) {
      if (!parse_rule()) skip_rule();
      if (diagnostics_.size() >= kMaxDiagnostics) break;
    }
    if (!diagnostics_.empty()) return diagnostics_;
    return std::move(set_);
  }

 private:
  // Error recovery: skips to the next line that begins with 'rule', or stays if the current line
  // does because the rule before it lacks its end.
  void skip_rule() {
    while (token_.kind != TokenKind::end_of_file &&
           (token_.line == location_.line || !token_.is("rule"))) {
      skip_line(token_.line);
      skip_empty_lines();
    }
  }

  bool parse_rule() {
    begin_rule();
    if (!expect("rule") || !parse_name() || !expect("{")) return false;
    for (;;) {
      skip_empty_lines();
      if (token_.is("}")) break;
      if (token_.kind == TokenKind::end_of_file)
        return fail("expected '}' at the end of the rule, found the end of the file");
      if (!parse_clause()) return false;
    }
    advance();
    return finish_rule() && end_line();
  }

  void begin_rule() {
    location_ = token_;
    row_ = RuleRow{{}, token_.line, {}, {}};
    rule_ = Rule{};
    optional_.clear();
    variables_.clear();
    values_.clear();
    replaced_ = false;
  }

  bool parse_name() {
    const Token location = token_;
    if (!take_text(TokenKind::string, "the rule's name in quotes", row_.name)) return false;
    const bool taken = std::any_of(set_.rows.begin(), set_.rows.end(),
                                   [&](const RuleRow& row) { return row.name == row_.name; });
    return !taken || fail_at(location, fmt::format("there is a rule \"{}\" already", row_.name));
  }

  bool parse_clause() {
    const Token location = token_;
    if (accept("closed")) {
      rule_.closed = true;
      return end_line();
    }
    if (accept("inexact")) return parse_inexact();
    if (accept("defined"))
      return take_text(TokenKind::string, "the reason in quotes", row_.defined) && end_line();
    if (accept("pattern")) {
      if (!rule_.pattern.empty()) return fail_at(location, "the rule has a pattern already");
      return parse_pattern() && end_line();
    }
    constexpr std::string_view kLater[] = {"where", "let", "replacement", "sample"};
    const bool later = std::find_if(std::begin(kLater), std::end(kLater), [&](std::string_view w) {
                         return token_.is(w);
                       }) != std::end(kLater);
    if (!later)
      return fail(
          fmt::format("expected 'pattern', 'where', 'let', 'replacement', 'closed', "
                      "'inexact', 'defined', 'sample' or '}}', found {}",
                      found()));
    if (rule_.pattern.empty())
      return fail(fmt::format("expected 'pattern' before '{}'", token_.text));
    if (accept("where")) return parse_where();
    if (accept("let")) return parse_let();
    if (accept("sample")) return parse_sample();
    advance();
    return parse_replacement(location) && end_line();
  }

  // inexact "why" relative 1e-5 absolute 1e-6
  bool parse_inexact() {
    Inexact inexact;
    if (!take_text(TokenKind::string, "the reason in quotes", inexact.reason)) return false;
    if (accept("relative") && !parse_real(inexact.relative)) return false;
    if (accept("absolute") && !parse_real(inexact.absolute)) return false;
    row_.inexact = std::move(inexact);
    return end_line();
  }

  bool parse_real(double& out) {
    Argument number;
    if (token_.kind != TokenKind::number)
      return fail(fmt::format("expected a number, found {}", found()));
    if (!parse_number(number)) return false;
    out = Scalar::from(number)->real;
    return true;
  }

  bool parse_where() {
    Condition condition;
    if (!parse_expression(condition.expression) || !end_line()) return false;
    rule_.conditions.push_back(std::move(condition));
    return true;
  }

  // let ?x = expression: binds ?x for the clauses below.
  bool parse_let() {
    const Token location = token_;
    const std::size_t before = variables_.size();
    Condition let;
    if (!parse_variable_index(let.defines.emplace())) return false;
    if (*let.defines != before) return fail_at(location, "the variable is bound already");
    if (!expect("=") || !parse_expression(let.expression) || !end_line()) return false;
    rule_.conditions.push_back(std::move(let));
    return true;
  }

  // sample ?n = 4, %x = f32[4, 5]
  bool parse_sample() {
    RuleSample sample;
    do {
      if (token_.kind == TokenKind::reference) {
        const Token location = token_;
        auto& [node, type] = sample.types.emplace_back();
        if (!find_value(node) || !expect("=") || !parse_type(type)) return false;
        if (node >= rule_.pattern.size() || rule_.pattern[node].kind == PatternNode::Kind::call)
          return fail_at(location, "a sample gives types to wildcards of the pattern only");
        continue;
      }
      auto& [variable, value] = sample.variables.emplace_back();
      Expression literal;
      if (!parse_known_variable(variable) || !expect("=") || !parse_expression(literal))
        return false;
      const std::vector<Argument> none(variables_.size());
      const std::vector<NodeId> no_values(values_.size());
      const Call::TypesOf no_types = [](NodeId) { return std::span<const TensorType>(); };
      const std::function<const SplatValue*(NodeId)> unknown = [](NodeId) { return nullptr; };
      const auto number = evaluate(literal, Scope{no_values, none, no_types, unknown});
      if (!number) return fail("a sample's variable has to be a literal");
      value = *number;
    } while (accept(","));
    rule_.samples.push_back(std::move(sample));
    return end_line();
  }

  bool parse_known_variable(std::size_t& out) {
    const Token location = token_;
    const std::size_t known = variables_.size();
    if (!parse_variable_index(out)) return false;
    return out < known || fail_at(location, "the variable is bound nowhere above");
  }

  bool parse_replacement(const Token& location) {
    if (replaced_) return fail_at(location, "the rule has a replacement already");
    replaced_ = true;
    if (!expect("{")) return false;
    for (;;) {
      skip_empty_lines();
      if (token_.is("}")) break;
      if (token_.kind == TokenKind::end_of_file)
        return fail("expected '}' at the end of the replacement, found the end of the file");
      if (!parse_replacement_line()) return false;
    }
    if (rule_.replacement_results.size() != rule_.results.size())
      return fail(fmt::format("the pattern has {} results, the replacement {}",
                              rule_.results.size(), rule_.replacement_results.size()));
    advance();
    return true;
  }

  bool parse_replacement_line() {
    const Token location = token_;
    if (accept("results")) {
      do {
        if (!find_value(rule_.replacement_results.emplace_back())) return false;
      } while (accept(","));
      return end_line();
    }
    ReplacementNode node;
    if (!take_text(TokenKind::reference, "a definition (%name = …) or 'results'", node.name) ||
        !expect("="))
      return false;
    const Token operator_location = token_;
    std::string word;
    if (!take_text(TokenKind::word, "an operator", word)) return false;
    node.op = find_operator_by_name(word);
    if (word == "external" && token_.kind == TokenKind::word)
      return fail(fmt::format("a replacement calls operators that Recut knows, found {}", found()));
    if (node.op == nullptr) return fail_unknown_operator(operator_location);
    if (node.op->is(kInput | kImpure))
      return fail_at(operator_location, fmt::format("'{}' can't stand in a replacement", word));
    node.arguments.resize(node.op->parameters.size());
    const auto parse_one = [&](std::size_t i) { return parse_expression(node.arguments[i]); };
    if (!parse_arguments(*node.op, parse_one) || !add_value(location, node.name) || !end_line())
      return false;
    rule_.replacement.push_back(std::move(node));
    return true;
  }

  bool finish_rule() {
    if (rule_.pattern.empty()) return fail_at(location_, "the rule has no pattern");
    if (!replaced_) return fail_at(location_, "the rule has no replacement");
    if (!row_.defined.empty() && !row_.inexact)
      return fail_at(location_, "a rule with 'defined' isn't exact: 'inexact' is missing");
    rule_.row = set_.rows.size();
    rule_.variables = variables_;
    auto variants = rule_variants(rule_, optional_);
    if (!variants) return fail_at(location_, variants.diagnostics().front().message);
    for (Rule& variant : *variants) set_.add(std::move(variant));
    set_.rows.push_back(std::move(row_));
    return true;
  }

  RuleSet set_;
  RuleRow row_;
  Token location_;         // of the current rule
  bool replaced_ = false;  // its replacement has been read
};

}  // namespace

Result<RuleSet> parse_rules(std::string_view text, std::string_view file_name) {
  return RuleTextParser(text, file_name).run();
}

bool looks_like_rules(std::string_view text) {
  TextLexer lexer(text.substr(0, kMaxBlankBytes));
  Token token = lexer.next();
  while (token.kind == TokenKind::end_of_line) token = lexer.next();
  return token.is("rule");
}

}  // namespace recut

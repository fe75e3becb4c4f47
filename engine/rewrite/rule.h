// Rules: rows of pattern, replacement and guard, as engine/rewrite/README.md describes their text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/ir/operator.h"
#include "engine/rewrite/expression.h"

namespace recut {

// The pattern of a type. A dimension is a number, a variable (?name) or any (_).
struct TypePattern {
  enum class Kind : std::uint8_t { any, floating, integral, exact, variable };
  struct Dimension {
    std::optional<std::int64_t> length;
    std::optional<std::size_t> variable;
  };

  Kind kind = Kind::any;
  DType dtype = DType::none;                   // exact
  std::size_t variable = 0;                    // a dtype variable
  std::optional<std::vector<Dimension>> dims;  // nullopt: any shape
};

struct PatternArgument {
  enum class Kind : std::uint8_t {
    absent,    // the schema's default
    literal,   // this literal, or a default equal to it
    variable,  // any literal; if the variable is bound, that one
    ignored,   // any argument
    value,     // the match of the pattern's node `index`
    list,
  };
  Kind kind = Kind::absent;
  Argument literal;
  std::size_t index = 0;
  std::vector<PatternArgument> items;
};

struct PatternNode {
  enum class Kind : std::uint8_t { any, constant, call };
  std::string name;
  Kind kind = Kind::any;
  const Operator* op = nullptr;
  std::vector<PatternArgument> arguments;  // one a parameter
  TypePattern type;
  std::optional<std::int64_t> users;  // users and outputs, counted together
  bool commutative = false;           // the first two operands match in either order
};

// Indices of values in expressions: the pattern's nodes first, then these.
struct ReplacementNode {
  std::string name;
  const Operator* op = nullptr;
  std::vector<Expression> arguments;  // one a parameter
};

// `where`, or `let` of a variable, in the order of the text: each sees the variables above it.
struct Condition {
  std::optional<std::size_t> defines;
  Expression expression;
};

// The reason why a rule's two sides differ in bits, and the tolerance:
// ‖found − expected‖₂ ≤ relative·‖expected‖₂ + absolute·√n.
struct Inexact {
  std::string reason;
  double relative = 0;
  double absolute = 0;
};

// Values of variables and types of wildcards for the tester to try.
struct RuleSample {
  std::vector<std::pair<std::size_t, Argument>> variables;
  std::vector<std::pair<std::size_t, TensorType>> types;
};

// The order in which a matcher walks a pattern: from the anchor down to its operands. A part that
// this does not reach is entered from a matched value `via` to one of its users.
struct MatchPlan {
  struct Step {
    std::size_t node, via;
  };
  std::size_t anchor = 0;
  std::vector<Step> steps;
};

struct Rule {
  std::size_t row = 0;  // in RuleSet::rows; rules of one row differ in their @optional calls
  std::vector<std::string> variables;
  std::vector<PatternNode> pattern;
  std::vector<std::size_t> results;  // of the pattern
  bool closed = false;  // calls under the results have no users or outputs outside the match
  std::vector<Condition> conditions;
  std::vector<ReplacementNode> replacement;
  std::vector<std::size_t> replacement_results;  // one a result
  std::vector<RuleSample> samples;
  MatchPlan plan;
};

struct RuleRow {
  std::string name;
  std::uint32_t line = 0;  // of its first word
  std::optional<Inexact> inexact;
  // The reason why the replacement may be finite where the pattern gives a NaN or an infinity.
  // Empty if it may not: rounding does not explain that.
  std::string defined;
};

struct RuleSet {
  std::string file;
  std::vector<RuleRow> rows;
  std::vector<Rule> rules;  // in order of rows
  // Indices of rules by the operator of their anchor, in order.
  std::unordered_map<Op, std::vector<std::size_t>> by_anchor;

  void add(Rule rule) {
    by_anchor[rule.pattern[rule.plan.anchor].op->op].push_back(rules.size());
    rules.push_back(std::move(rule));
  }
  const std::string& name_of(const Rule& rule) const { return rows[rule.row].name; }
};

}  // namespace recut

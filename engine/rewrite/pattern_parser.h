// Reads the pattern of a rule: a graph with wildcards for values and variables for arguments.
#pragma once

#include "engine/rewrite/expression_parser.h"
#include "engine/rewrite/rule.h"
#include "engine/rewrite/rule_variants.h"

namespace recut {

class PatternParser : protected ExpressionParser {
 protected:
  using ExpressionParser::ExpressionParser;

  // Reads the lines between braces into the current rule.
  bool parse_pattern();

  bool add_value(const Token& location, const std::string& name);
  bool parse_variable_index(std::size_t& out);  // ?name; declares it if it is new

  Rule rule_;
  std::vector<OptionalNode> optional_;

 private:
  bool parse_pattern_line();
  bool parse_pattern_node(PatternNode& node);
  bool parse_pattern_call(const Token& location, PatternNode& node);
  bool parse_external_pattern(const Token& location, PatternNode& node);
  void return_lists();
  bool parse_pattern_argument(PatternArgument& out, int depth);
  bool parse_computed_argument(PatternArgument& out);
  bool parse_pattern_list(PatternArgument& out, int depth);
  bool parse_type_pattern(TypePattern& out);
  bool parse_dimensions(TypePattern& out);
  bool begins_type() const;
  bool parse_marks(PatternNode& node);
  bool parse_optional(const PatternNode& node);
  bool parse_substitute(OptionalNode& optional);
  bool parse_pattern_results(const Token& location);
  bool check_reached(const Token& location);
};

}  // namespace recut

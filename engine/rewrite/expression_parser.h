// Reads expressions of rules.
//
//   expression  or-terms by `or`, of and-terms by `and`, of `not` and comparisons
//   comparison  sum, or sum == sum (!= < <= > >=)
//   sum         products by + and -, of primaries by * and /
//   primary     number, "text", dtype, none, true, false, inf, nan, ?variable, %value,
//               [a, b], (a), -a, function(a, b)
#pragma once

#include <string>
#include <vector>

#include "engine/input/text_reader.h"
#include "engine/rewrite/expression.h"

namespace recut {

class ExpressionParser : protected TextReader {
 protected:
  ExpressionParser(std::string_view text, std::string_view file_name)
      : TextReader(text, file_name, "?<>!+*/") {}

  bool parse_expression(Expression& out) { return parse_or(out); }

  bool parse_variable_name(std::string& out);  // after the '?'
  bool find_value(std::size_t& out);           // reads the %name of a value

  std::vector<std::string> variables_;  // of the current rule, by index
  std::vector<std::string> values_;     // the same; names are unique

 private:
  bool parse_or(Expression& out);
  bool parse_and(Expression& out);
  bool parse_comparison(Expression& out);
  bool parse_sum(Expression& out);
  bool parse_product(Expression& out);
  bool parse_primary(Expression& out);
  bool parse_variable(Expression& out);
  bool parse_list(Expression& out);
  bool parse_call(Expression& out);
  bool parse_items(std::string_view close, std::vector<Expression>& out);
  bool take_comparison(std::string_view& name);
  bool join(std::string_view function, Expression& left,
            bool (ExpressionParser::*side)(Expression&));

  int depth_ = 0;
};

Expression literal_expression(Argument value);
Expression value_expression(std::size_t index);
Expression variable_expression(std::size_t index);
Expression call_expression(std::string_view function, std::vector<Expression> operands);

}  // namespace recut

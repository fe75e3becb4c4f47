// Base of the recursive-descent parsers of graphs (text.cpp), rules (engine/rewrite) and loops:
// token handling, error reporting, and the grammar that they share.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/text_lexer.h"
#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut {

// Every parse function returns whether it succeeded; on failure one diagnostic has been added, and
// the caller gives up its line.
class TextReader {
 protected:
  TextReader(std::string_view text, std::string_view file_name, std::string_view more_symbols = {})
      : lexer_(text, more_symbols), file_name_(file_name) {
    advance();
  }

  void advance() { token_ = lexer_.next(); }
  bool fail(std::string message) { return fail_at(token_, std::move(message)); }
  bool fail_at(const Token& token, std::string message);
  std::string found() const;  // the current token, for messages
  // Reports an unknown operator; `others` are keywords to suggest besides operators.
  bool fail_unknown_operator(const Token& token,
                             std::initializer_list<std::string_view> others = {});

  bool expect(std::string_view symbol);
  bool accept(std::string_view symbol);
  bool take_text(TokenKind kind, std::string_view what, std::string& out);
  bool end_line();
  // Skips to the end of that line, unless it is passed already; true if the line ends in "}".
  bool skip_line(std::uint32_t line);
  void skip_empty_lines();

  // (a, b, name=c): `parse_one` reads the argument of that parameter.
  bool parse_arguments(const Operator& op, const std::function<bool(std::size_t)>& parse_one);

  // Literal keywords: none, true, false, inf, nan and dtypes.
  static bool is_value_keyword(std::string_view word);
  bool parse_value_keyword(Argument& out);

  bool parse_number(Argument& out);  // an int64 or a double, as it is written
  bool parse_whole_number(std::int64_t& out);
  bool parse_integers(std::string_view open, std::string_view close,
                      std::vector<std::int64_t>& out);
  bool parse_type(TensorType& out);     // f32[2, 3]{1, 2} on cpu
  bool parse_device(std::string& out);  // on cpu, on "cuda:0", or nothing
  bool parse_types(const Operator& op, std::vector<TensorType>& out);
  bool parse_origin(Origin& origin);  // @"module" #7

  TextLexer lexer_;
  std::string_view file_name_;
  Token token_;
  Diagnostics diagnostics_;
};

}  // namespace recut

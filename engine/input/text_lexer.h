// Tokens of the text form (engine/ir/printer.h), with their locations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace recut {

enum class TokenKind : std::uint8_t {
  word,       // graph, mm, sum.dim_IntList, f32, true
  reference,  // %name: `text` is the name
  number,     // as written
  string,     // "…": `text` is unescaped
  symbol,     // punctuation: one of { } ( ) [ ] , = : @ #, and a dialect's own
  end_of_line,
  end_of_file,
  bad,  // `text` is the error message
};

struct Token {
  TokenKind kind = TokenKind::end_of_file;
  std::string text;
  std::uint32_t line = 1;  // both count from 1
  std::uint32_t column = 1;

  bool is(std::string_view symbol_or_word) const {
    return (kind == TokenKind::symbol || kind == TokenKind::word) && text == symbol_or_word;
  }
};

// Splits a text into tokens, one at a time. Comments (";" to the end of the line) and blanks are
// skipped; ends of lines are tokens, since a definition ends with its line.
class TextLexer {
 public:
  // `more_symbols` are further punctuation characters of a dialect.
  explicit TextLexer(std::string_view text, std::string_view more_symbols = {})
      : text_(text), more_symbols_(more_symbols) {}

  Token next();

 private:
  Token make(TokenKind kind, std::size_t begin, std::string text) const;
  Token quoted(std::size_t begin, TokenKind kind);
  Token reference(std::size_t begin);
  std::string take_word();

  std::string_view text_;
  std::string_view more_symbols_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::size_t line_start_ = 0;
};

}  // namespace recut

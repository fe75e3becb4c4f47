#include "engine/input/text_lexer.h"

namespace recut {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.';
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Token TextLexer::make(TokenKind kind, std::size_t begin, std::string text) const {
  return Token{kind, std::move(text), line_, static_cast<std::uint32_t>(begin - line_start_ + 1)};
}

std::string TextLexer::take_word() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  return std::string(text_.substr(begin, at_ - begin));
}

// `at_` stands on the opening quote.
Token TextLexer::quoted(std::size_t begin, TokenKind kind) {
  std::string out;
  for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_) {
    if (text_[at_] != '\\') {
      out += text_[at_];
      continue;
    }
    const char escaped = ++at_ < text_.size() ? text_[at_] : '\0';
    if (escaped == 'n') {
      out += '\n';
    } else if (escaped == '"' || escaped == '\\') {
      out += escaped;
    } else if (escaped == 'x' && at_ + 2 < text_.size() && hex_digit(text_[at_ + 1]) >= 0 &&
               hex_digit(text_[at_ + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text_[at_ + 1]) * 16 + hex_digit(text_[at_ + 2]));
      at_ += 2;
    } else {
      return make(TokenKind::bad, begin,
                  R"(unknown escape in a string (expected \" \\ \n or \xhh))");
    }
  }
  if (at_ >= text_.size() || text_[at_] != '"')
    return make(TokenKind::bad, begin, "a string that does not end on its line");
  ++at_;
  return make(kind, begin, std::move(out));
}

Token TextLexer::reference(std::size_t begin) {
  ++at_;  // the '%'
  if (at_ < text_.size() && text_[at_] == '"') return quoted(begin, TokenKind::reference);
  std::string name = take_word();
  if (name.empty()) return make(TokenKind::bad, begin, "a '%' without a name");
  return make(TokenKind::reference, begin, std::move(name));
}

Token TextLexer::next() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r'))
    ++at_;
  if (at_ < text_.size() && text_[at_] == ';')
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  const std::size_t begin = at_;
  if (at_ >= text_.size()) return make(TokenKind::end_of_file, begin, "");
  const char c = text_[at_];
  if (c == '\n') {
    Token token = make(TokenKind::end_of_line, begin, "");
    ++at_;
    ++line_;
    line_start_ = at_;
    return token;
  }
  if (c == '%') return reference(begin);
  if (c == '"') return quoted(begin, TokenKind::string);
  if (std::string_view("{}()[],=:@#").find(c) != std::string_view::npos ||
      more_symbols_.find(c) != std::string_view::npos) {
    ++at_;
    return make(TokenKind::symbol, begin, std::string(1, c));
  }
  if (is_digit(c) || c == '-') {
    ++at_;
    std::string number(1, c);
    // An exponent's sign belongs to the number: 1e-05.
    for (;;) {
      number += take_word();
      const bool exponent = !number.empty() && (number.back() == 'e' || number.back() == 'E');
      if (!exponent || at_ >= text_.size() || (text_[at_] != '-' && text_[at_] != '+')) break;
      number += text_[at_++];
    }
    return make(TokenKind::number, begin, std::move(number));
  }
  if (is_word(c)) return make(TokenKind::word, begin, take_word());
  ++at_;
  return make(TokenKind::bad, begin, "a character that begins nothing");
}

}  // namespace recut

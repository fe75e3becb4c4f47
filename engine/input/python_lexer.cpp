// Splits lines of printed Python into tokens: names, numbers, strings, symbols, comments. A line's
// end is a token only outside of brackets, as in Python; comments inside brackets are kept in
// `asides`, since PyTorch writes notes on outputs there. Tokens are views of the text, and their
// position is found only for a diagnostic. There is one token of lookahead. Cost: O(bytes).
#include "engine/input/python_lexer.h"

#include <algorithm>
#include <array>

#include "engine/support/text.h"

namespace recut {
namespace {

bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_figure(char c) { return c >= '0' && c <= '9'; }

std::size_t length_of_name(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && (begins_name(text[n]) || is_figure(text[n]))) ++n;
  return n;
}

// Digits, a point, an exponent with its sign; other characters directly behind it are part of a
// faulty number.
std::size_t length_of_number(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size()) {
    const char c = text[n];
    const bool sign = (c == '+' || c == '-') && n > 0 && (text[n - 1] == 'e' || text[n - 1] == 'E');
    if (!is_figure(c) && !begins_name(c) && c != '.' && !sign) break;
    ++n;
  }
  return n;
}

std::size_t length_of_symbol(std::string_view text) {
  constexpr std::array<std::string_view, 19> kLong = {
      "...", "**=", "//=", "**", "//", "<=", ">=", "==", "!=", "->",
      "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "<<", ">>"};
  for (const std::string_view symbol : kLong)
    if (text.starts_with(symbol)) return symbol.size();
  return std::string_view("()[]{}:;,.=+-*/%<>&|^~@").find(text[0]) != std::string_view::npos ? 1
                                                                                             : 0;
}

int python_hex_digit(char c) {
  if (is_figure(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_utf8(std::uint32_t code, std::string& text) {
  const auto put = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

// The character of \xNN, \uNNNN or \UNNNNNNNN after its letter.
bool read_code(std::string_view digits, std::size_t count, std::string& characters) {
  if (digits.size() < count) return false;
  std::uint32_t code = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const int digit = python_hex_digit(digits[i]);
    if (digit < 0 || code > 0x10ffff) return false;
    code = code * 16 + static_cast<std::uint32_t>(digit);
  }
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  append_utf8(code, characters);
  return true;
}

}  // namespace

PythonToken PythonLexer::take() {
  const PythonToken taken = token_;
  advance();
  return taken;
}

void PythonLexer::skip_line() {
  depth_ = 0;
  if (token_.kind == PythonKind::end) return;
  line_ = token_.line + 1;
  at_ = 0;
  advance();
}

LineColumn PythonLexer::place(const PythonToken& token) const {
  if (lines_.empty()) return {};
  const bool within = token.line < lines_.size();
  const PrintedLine& line = within ? lines_[token.line] : lines_.back();
  const std::size_t behind = within ? token.column : line.text.size();
  return {line.line, line.column + static_cast<std::uint32_t>(behind)};
}

std::size_t PythonLexer::length_of_text(std::string_view text) const {
  for (std::size_t n = 1; n < text.size(); ++n) {
    if (text[n] == '\\')
      ++n;
    else if (text[n] == text[0])
      return n + 1;
  }
  return 0;
}

void PythonLexer::read(std::string_view text) {
  const auto make = [&](PythonKind kind, std::size_t length) {
    token_.kind = kind;
    token_.text = text.substr(0, length);
    at_ += length;
  };
  const char c = text[0];
  if (begins_name(c)) return make(PythonKind::name, length_of_name(text));
  if (is_figure(c)) return make(PythonKind::number, length_of_number(text));
  if (c == '"' || c == '\'') {
    const std::size_t length = length_of_text(text);
    return length == 0 ? make(PythonKind::bad, text.size()) : make(PythonKind::text, length);
  }
  const std::size_t length = length_of_symbol(text);
  if (length == 0) return make(PythonKind::bad, 1);
  if (c == '(' || c == '[' || c == '{') ++depth_;
  if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
  make(PythonKind::symbol, length);
}

void PythonLexer::advance() {
  for (; line_ < lines_.size(); ++line_, at_ = 0) {
    const std::string_view text = lines_[line_].text;
    at_ = std::min(text.find_first_not_of(" \t\f", at_), text.size());
    const auto column = static_cast<std::uint32_t>(at_);
    token_ = {PythonKind::end, {}, line_, column};
    if (at_ < text.size() && text[at_] != '#') return read(text.substr(at_));
    const std::string_view comment = text.substr(at_);
    at_ = text.size();
    if (depth_ > 0) {
      if (!comment.empty()) asides.push_back({comment, mark});
      continue;
    }
    if (!comment.empty()) {
      token_.kind = PythonKind::comment;
      token_.text = comment;
      return;
    }
    token_.kind = PythonKind::line_end;
    ++line_;
    at_ = 0;
    return;
  }
  token_ = {PythonKind::end, {}, line_, 0};
}

std::string describe(const PythonToken& token) {
  switch (token.kind) {
    case PythonKind::name:
      return "the name " + quote(token.text);
    case PythonKind::number:
      return "the number " + quote(token.text);
    case PythonKind::text:
      return "a string";
    case PythonKind::symbol:
      return quote(token.text);
    case PythonKind::comment:
      return "a comment";
    case PythonKind::line_end:
      return "the end of the line";
    case PythonKind::end:
      return "the end of the graph";
    case PythonKind::bad:
      break;
  }
  const bool quoted = token.text.starts_with('"') || token.text.starts_with('\'');
  return quoted ? "a string without its end" : quote(token.text);
}

bool unquote(std::string_view literal, std::string& characters) {
  constexpr std::string_view kLetters = "\\'\"nrtabfv0", kMeant("\\'\"\n\r\t\a\b\f\v\0", 11);
  for (std::size_t i = 1; i + 1 < literal.size(); ++i) {
    if (literal[i] != '\\') {
      characters += literal[i];
      continue;
    }
    const char letter = literal[++i];
    if (const std::size_t at = kLetters.find(letter); at != std::string_view::npos) {
      characters += kMeant[at];
      continue;
    }
    const std::size_t count = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    const std::string_view digits = literal.substr(i + 1, literal.size() - i - 2);
    if (count == 0 || !read_code(digits, count, characters)) return false;
    i += count;
  }
  return true;
}

}  // namespace recut

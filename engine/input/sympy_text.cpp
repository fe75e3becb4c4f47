// Sizes that PyTorch printed as sympy constructors (srepr), read as ordinary expressions:
//   Add(Mul(Integer(8), Symbol('s48', integer=True)), Integer(-1))   =>   (((8) * s48) + (-1))
// A recursive descent over calls; its depth and length are limited, as the text comes from a file.
// Keywords are skipped: symbols.h checks signs by the symbol's range. Other texts pass unchanged.
#include "engine/input/sympy_text.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::size_t kMaxSympyBytes = 1 << 14;
constexpr int kMaxSympyDepth = 48;

bool is_sympy_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_sympy_digit(char c) { return c >= '0' && c <= '9'; }

// Sums and products of two or more.
std::string joined(std::string_view sign, const std::vector<std::string>& terms) {
  return fmt::format("({})", fmt::join(terms, fmt::format(" {} ", sign)));
}

class SympyReader {
 public:
  explicit SympyReader(std::string_view text) : text_(text) {}

  Result<std::string> read() {
    auto whole = expression();
    if (whole && at_ != text_.size()) return unexpected("the end");
    return whole;
  }

 private:
  Diagnostic unexpected(std::string_view expected) const {
    const std::string_view rest = text_.substr(std::min(at_, text_.size()));
    return error(fmt::format("the size {}: {} found at character {}, expected {}", quote(text_),
                             rest.empty() ? "the end" : quote(rest.substr(0, 1)), at_ + 1,
                             expected));
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char sign) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != sign) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_sympy_letter(text_[at_]) || is_sympy_digit(text_[at_]))) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  // An int or a decimal number, with its sign.
  std::string number() {
    skip_blanks();
    const std::size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() &&
           (is_sympy_digit(text_[at_]) || text_[at_] == '.' || text_[at_] == 'e'))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  Result<std::string> quoted() {
    skip_blanks();
    const char mark = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end =
        mark == '\'' || mark == '"' ? text_.find(mark, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) return unexpected("a name in quotes");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(inside);
  }

  Result<std::string> expression() {
    const bool deep = ++depth_ > kMaxSympyDepth;
    auto read =
        deep ? Result<std::string>(error(fmt::format("the size {}: it is nested deeper than {}",
                                                     quote(text_), kMaxSympyDepth)))
             : term();
    --depth_;
    return read;
  }

  Result<std::string> term() {
    skip_blanks();
    if (at_ < text_.size() && (is_sympy_digit(text_[at_]) || text_[at_] == '-'))
      return fmt::format("({})", number());
    const std::string name(word());
    if (name.empty()) return unexpected("a number or a call");
    if (!take('(')) return unexpected("'('");
    if (name == "Symbol" || name == "Dummy") return symbol();
    if (name == "Float") return decimal();
    std::vector<std::string> operands;
    while (!take(')')) {
      if (!operands.empty() && !take(',')) return unexpected("',' or ')'");
      if (!operands.empty() && take(')')) break;
      if (skip_keyword()) continue;
      auto operand = expression();
      if (!operand) return operand;
      operands.push_back(std::move(*operand));
    }
    return call(name, operands);
  }

  // Past "evaluate=False".
  bool skip_keyword() {
    const std::size_t begin = at_;
    const bool keyword = !word().empty() && take('=');
    if (keyword && !word().empty()) return true;
    at_ = begin;
    return false;
  }

  // Past the keywords of a symbol, whose order differs between versions.
  bool take_keywords() {
    while (take(',')) {
      if (take(')')) return true;
      if (!skip_keyword() && number().empty()) return false;
    }
    return take(')');
  }

  Result<std::string> symbol() {
    auto name = quoted();
    if (!name) return name;
    const bool plain = !name->empty() && is_sympy_letter(name->front()) &&
                       std::all_of(name->begin(), name->end(),
                                   [](char c) { return is_sympy_letter(c) || is_sympy_digit(c); });
    if (!plain)
      return error(
          fmt::format("the size {}: {} is no name of a symbol", quote(text_), quote(*name)));
    if (!take_keywords()) return unexpected("')'");
    return name;
  }

  Result<std::string> decimal() {
    auto digits = quoted();
    if (!digits) return digits;
    const bool plain = !digits->empty() && std::all_of(digits->begin(), digits->end(), [](char c) {
      return is_sympy_digit(c) || c == '.' || c == 'e' || c == '-' || c == '+';
    });
    if (!plain || !take_keywords()) return unexpected("a decimal number");
    return fmt::format("({})", *digits);
  }

  static Result<std::string> call(const std::string& name,
                                  const std::vector<std::string>& operands) {
    if (name == "Integer" && operands.size() == 1) return operands.front();
    if (name == "Rational" && operands.size() == 2) return joined("/", operands);
    if (name == "Add" && !operands.empty()) return joined("+", operands);
    if (name == "Mul" && !operands.empty()) return joined("*", operands);
    if (name == "Pow" && operands.size() == 2) return joined("**", operands);
    return fmt::format("{}({})", name, fmt::join(operands, ", "));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<std::string> read_sympy_text(std::string_view text) {
  if (text.size() > kMaxSympyBytes)
    return error(
        fmt::format("a size of {} characters, expected at most {}", text.size(), kMaxSympyBytes));
  if (text.find("Symbol(") == std::string_view::npos &&
      text.find("Integer(") == std::string_view::npos)
    return std::string(text);
  return SympyReader(text).read();
}

std::optional<std::string> symbol_of_sympy_text(std::string_view text) {
  const auto read = read_sympy_text(text);
  if (!read || read->empty() || !is_sympy_letter(read->front())) return std::nullopt;
  const bool name = std::all_of(read->begin(), read->end(),
                                [](char c) { return is_sympy_letter(c) || is_sympy_digit(c); });
  return name ? std::optional(*read) : std::nullopt;
}

}  // namespace recut

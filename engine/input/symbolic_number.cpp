// Evaluates sympy expressions of symbolic sizes (symbolic_number.h) by recursive descent with
// Python's operator precedence. Arithmetic is on reduced 64-bit rationals in 128-bit intermediates:
// 8*(s48/32) must not depend on where a division rounds. Functions that PyTorch computes in floats
// give doubles. Linear in the length, which is bounded, as is the nesting.
#include "engine/input/symbolic_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "engine/support/text.h"

namespace recut {
namespace {

// A rational number while exact, as in sympy: reduced, with a positive denominator; otherwise a
// double.
struct Number {
  std::int64_t numerator = 0, denominator = 1;
  double value = 0;
  bool exact = true;
};
using Numbers = std::vector<Number>;
using Wide = __int128;

constexpr int kMaxExpressionDepth = 64;               // parentheses and calls within each other
constexpr std::size_t kMaxExpressionBytes = 1 << 12;  // bytes of an expression

Number whole_number(std::int64_t value) { return {value, 1, 0, true}; }
Number real_number(double value) { return {0, 1, value, false}; }

double as_real(const Number& n) {
  return n.exact ? static_cast<double>(n.numerator) / static_cast<double>(n.denominator) : n.value;
}
bool is_whole(const Number& n) { return n.exact && n.denominator == 1; }

Diagnostic too_large() { return error("a number doesn't fit into 64 bits"); }

Wide greatest_divisor(Wide a, Wide b) {
  a = a < 0 ? -a : a;
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

Result<Number> quotient(Wide numerator, Wide denominator) {
  if (denominator == 0) return error("a divisor is 0");
  if (denominator < 0) numerator = -numerator, denominator = -denominator;
  const Wide shared = greatest_divisor(numerator, denominator);
  numerator /= shared;
  denominator /= shared;
  constexpr Wide kMaxInt = std::numeric_limits<std::int64_t>::max();
  if (numerator > kMaxInt || numerator < -kMaxInt - 1 || denominator > kMaxInt) return too_large();
  return Number{static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator), 0,
                true};
}

Result<Number> plus(const Number& a, const Number& b) {
  if (!a.exact || !b.exact) return real_number(as_real(a) + as_real(b));
  return quotient(Wide{a.numerator} * b.denominator + Wide{b.numerator} * a.denominator,
                  Wide{a.denominator} * b.denominator);
}

Result<Number> negative(const Number& a) {
  return a.exact ? quotient(-Wide{a.numerator}, a.denominator)
                 : Result<Number>(real_number(-a.value));
}

Result<Number> minus(const Number& a, const Number& b) {
  if (!a.exact || !b.exact) return real_number(as_real(a) - as_real(b));
  return quotient(Wide{a.numerator} * b.denominator - Wide{b.numerator} * a.denominator,
                  Wide{a.denominator} * b.denominator);
}

Result<Number> times(const Number& a, const Number& b) {
  if (!a.exact || !b.exact) return real_number(as_real(a) * as_real(b));
  return quotient(Wide{a.numerator} * b.numerator, Wide{a.denominator} * b.denominator);
}

Result<Number> divided(const Number& a, const Number& b) {
  if (as_real(b) == 0) return error("a divisor is 0");
  if (!a.exact || !b.exact) return real_number(as_real(a) / as_real(b));
  return quotient(Wide{a.numerator} * b.denominator, Wide{a.denominator} * b.numerator);
}

Result<Number> to_whole(double value) {
  if (!(std::abs(value) < 9.2e18)) return too_large();
  return whole_number(static_cast<std::int64_t>(value));
}

// Down to the next whole number.
Result<Number> floor_of(const Number& a) {
  if (!a.exact) return to_whole(std::floor(a.value));
  return whole_number(a.numerator / a.denominator - (a.numerator % a.denominator < 0 ? 1 : 0));
}

Result<Number> ceiling_of(const Number& a) {
  if (!a.exact) return to_whole(std::ceil(a.value));
  return whole_number(a.numerator / a.denominator + (a.numerator % a.denominator > 0 ? 1 : 0));
}

Result<Number> truncated(const Number& a) { return as_real(a) < 0 ? ceiling_of(a) : floor_of(a); }

// Python's //.
Result<Number> floor_divided(const Number& a, const Number& b) {
  const auto exact = divided(a, b);
  return exact ? floor_of(*exact) : exact;
}

// Division that PyTorch computes in floating point.
Result<Number> float_divided(const Number& a, const Number& b) {
  if (as_real(b) == 0) return error("a divisor is 0");
  return real_number(as_real(a) / as_real(b));
}

Result<Number> remainder(const Number& a, const Number& b) {
  const auto parts = floor_divided(a, b);
  if (!parts) return parts;
  const auto taken = times(*parts, b);
  return taken ? minus(a, *taken) : taken;
}

Result<Number> raised(const Number& a, const Number& b) {
  if (!a.exact || !is_whole(b)) return real_number(std::pow(as_real(a), as_real(b)));
  // Only 0, 1 and -1 have such high powers in 64 bits, and for these only parity counts.
  constexpr std::int64_t kHighest = 63;
  const bool small = a.denominator == 1 && a.numerator >= -1 && a.numerator <= 1;
  if (!small && (b.numerator > kHighest || b.numerator < -kHighest)) return too_large();
  const bool high = b.numerator > kHighest || b.numerator < -kHighest;
  const std::int64_t exponent = high ? 2 + b.numerator % 2 : b.numerator;
  Number result = whole_number(1);
  for (std::int64_t i = 0; i < (exponent < 0 ? -exponent : exponent); ++i) {
    const auto next = times(result, a);
    if (!next) return next;
    result = *next;
  }
  return b.numerator < 0 ? divided(whole_number(1), result) : Result<Number>(result);
}

bool is_below(const Number& a, const Number& b) {
  if (!a.exact || !b.exact) return as_real(a) < as_real(b);
  return Wide{a.numerator} * b.denominator < Wide{b.numerator} * a.denominator;
}

Result<Number> extreme_of(const Numbers& of, bool largest) {
  Number found = of.front();
  for (const Number& one : of)
    if (largest ? is_below(found, one) : is_below(one, found)) found = one;
  return found;
}

Result<Number> absolute(const Number& a) {
  return as_real(a) < 0 ? negative(a) : Result<Number>(a);
}

// A function that PyTorch computes in floating point.
template <double (*f)(double)>
Result<Number> in_floats(const Numbers& n) {
  return real_number(f(as_real(n[0])));
}

// PyTorch's functions of symbols (torch.utils._sympy.functions), and sympy's own.
struct Function {
  std::string_view name;
  std::size_t operands;  // 0: one or more
  Result<Number> (*apply)(const Numbers&);
};
constexpr Function kFunctions[] = {
    {"FloorDiv", 2, [](const Numbers& n) { return floor_divided(n[0], n[1]); }},
    {"CleanDiv", 2, [](const Numbers& n) { return floor_divided(n[0], n[1]); }},
    {"CeilDiv", 2,
     [](const Numbers& n) {
       const auto exact = divided(n[0], n[1]);
       return exact ? ceiling_of(*exact) : exact;
     }},
    {"IntTrueDiv", 2, [](const Numbers& n) { return divided(n[0], n[1]); }},
    {"FloatTrueDiv", 2, [](const Numbers& n) { return float_divided(n[0], n[1]); }},
    {"Mod", 2, [](const Numbers& n) { return remainder(n[0], n[1]); }},
    {"PythonMod", 2, [](const Numbers& n) { return remainder(n[0], n[1]); }},
    {"ModularIndexing", 3,
     [](const Numbers& n) {
       const auto parts = floor_divided(n[0], n[1]);
       return parts ? remainder(*parts, n[2]) : parts;
     }},
    {"Max", 0, [](const Numbers& n) { return extreme_of(n, true); }},
    {"Min", 0, [](const Numbers& n) { return extreme_of(n, false); }},
    {"Pow", 2, [](const Numbers& n) { return raised(n[0], n[1]); }},
    {"PowByNatural", 2, [](const Numbers& n) { return raised(n[0], n[1]); }},
    {"FloatPow", 2,
     [](const Numbers& n) {
       return Result<Number>(real_number(std::pow(as_real(n[0]), as_real(n[1]))));
     }},
    {"Abs", 1, [](const Numbers& n) { return absolute(n[0]); }},
    {"Identity", 1, [](const Numbers& n) { return Result<Number>(n[0]); }},
    {"ToFloat", 1, [](const Numbers& n) { return Result<Number>(real_number(as_real(n[0]))); }},
    {"CeilToInt", 1, [](const Numbers& n) { return ceiling_of(n[0]); }},
    {"FloorToInt", 1, [](const Numbers& n) { return floor_of(n[0]); }},
    {"TruncToInt", 1, [](const Numbers& n) { return truncated(n[0]); }},
    {"RoundToInt", 1, [](const Numbers& n) { return to_whole(std::nearbyint(as_real(n[0]))); }},
    {"ceiling", 1, [](const Numbers& n) { return ceiling_of(n[0]); }},
    {"floor", 1, [](const Numbers& n) { return floor_of(n[0]); }},
    {"sqrt", 1, in_floats<std::sqrt>},
    {"OpaqueUnaryFn_sqrt", 1, in_floats<std::sqrt>},
    {"OpaqueUnaryFn_exp", 1, in_floats<std::exp>},
    {"OpaqueUnaryFn_log", 1, in_floats<std::log>},
    {"OpaqueUnaryFn_log2", 1, in_floats<std::log2>},
    {"OpaqueUnaryFn_sin", 1, in_floats<std::sin>},
    {"OpaqueUnaryFn_cos", 1, in_floats<std::cos>},
    {"OpaqueUnaryFn_tan", 1, in_floats<std::tan>},
    {"OpaqueUnaryFn_sinh", 1, in_floats<std::sinh>},
    {"OpaqueUnaryFn_cosh", 1, in_floats<std::cosh>},
    {"OpaqueUnaryFn_tanh", 1, in_floats<std::tanh>},
    {"OpaqueUnaryFn_asin", 1, in_floats<std::asin>},
    {"OpaqueUnaryFn_acos", 1, in_floats<std::acos>},
    {"OpaqueUnaryFn_atan", 1, in_floats<std::atan>},
    {"OpaqueUnaryFn_asinh", 1, in_floats<std::asinh>},
};

bool is_symbol_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_symbol_digit(char c) { return c >= '0' && c <= '9'; }

// Reads an expression by recursive descent, with Python's precedence.
class ExpressionReader {
 public:
  ExpressionReader(std::string_view text, const ValueOfSymbol& value_of)
      : text_(text), value_of_(value_of) {}

  Result<Number> read() {
    auto number = sum();
    if (number && !next().empty()) return unexpected("an operator");
    return number;
  }

 private:
  // The remaining text from the next token.
  std::string_view next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return text_.substr(at_);
  }
  bool take(std::string_view sign) {
    if (!next().starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  Diagnostic unexpected(std::string_view expected) {
    const std::string_view found = next();
    return error(fmt::format("{} found, expected {}",
                             found.empty() ? "the end" : quote(found.substr(0, 1)), expected));
  }

  Result<Number> sum() {
    auto number = product();
    while (number) {
      const bool add = take("+");
      if (!add && !take("-")) break;
      const auto other = product();
      if (!other) return other;
      number = add ? plus(*number, *other) : minus(*number, *other);
    }
    return number;
  }

  Result<Number> product() {
    auto number = signed_power();
    while (number && !next().starts_with("**")) {
      Result<Number> (*apply)(const Number&, const Number&) = nullptr;
      if (take("//"))
        apply = floor_divided;
      else if (take("*"))
        apply = times;
      else if (take("/"))
        apply = divided;
      else if (take("%"))
        apply = remainder;
      else
        break;
      const auto other = signed_power();
      if (!other) return other;
      number = apply(*number, *other);
    }
    return number;
  }

  Result<Number> signed_power() {
    const DepthGuard guard(depth_);
    if (depth_ > kMaxExpressionDepth)
      return error(fmt::format("it is nested deeper than {}", kMaxExpressionDepth));
    if (take("-")) {
      const auto number = signed_power();
      return number ? negative(*number) : number;
    }
    auto number = atom();
    if (!number || !take("**")) return number;
    const auto exponent = signed_power();
    return exponent ? raised(*number, *exponent) : exponent;
  }

  Result<Number> atom() {
    const std::string_view rest = next();
    if (rest.empty()) return unexpected("a number or a symbol");
    if (take("(")) {
      auto number = sum();
      if (number && !take(")")) return unexpected("')'");
      return number;
    }
    if (is_symbol_digit(rest.front())) return literal(rest);
    if (!is_symbol_letter(rest.front())) return unexpected("a number or a symbol");
    std::size_t end = 0;
    while (end < rest.size() && (is_symbol_letter(rest[end]) || is_symbol_digit(rest[end]))) ++end;
    at_ += end;
    const std::string_view name = rest.substr(0, end);
    if (take("(")) return call(name);
    const auto bound = value_of_(name);
    if (!bound) return bound.diagnostics();
    const auto* whole = std::get_if<std::int64_t>(&*bound);
    return whole != nullptr ? whole_number(*whole) : real_number(std::get<double>(*bound));
  }

  Result<Number> literal(std::string_view rest) {
    std::int64_t integer = 0;
    const char* end = rest.data() + rest.size();
    const auto [stop, wrong] = std::from_chars(rest.data(), end, integer);
    const bool goes_on = stop != end && (*stop == '.' || *stop == 'e');
    if (!goes_on) {
      at_ += static_cast<std::size_t>(stop - rest.data());
      return wrong == std::errc() ? Result<Number>(whole_number(integer)) : too_large();
    }
    // Accepts only digits, a point and an exponent, unlike strtod, which also needs a terminated
    // string.
    std::size_t length = 0;
    while (
        length < rest.size() &&
        (is_symbol_digit(rest[length]) || rest[length] == '.' || rest[length] == 'e' ||
         (length > 0 && rest[length - 1] == 'e' && (rest[length] == '-' || rest[length] == '+'))))
      ++length;
    const std::string digits(rest.substr(0, length));
    char* after = nullptr;
    const double value = std::strtod(digits.c_str(), &after);
    at_ += static_cast<std::size_t>(after - digits.c_str());
    return std::isfinite(value) ? Result<Number>(real_number(value)) : too_large();
  }

  Result<Number> call(std::string_view name) {
    Numbers operands;
    do {
      const auto operand = sum();
      if (!operand) return operand;
      operands.push_back(*operand);
    } while (take(","));
    if (!take(")")) return unexpected("')'");
    for (const Function& function : kFunctions) {
      if (function.name != name) continue;
      if (function.operands != 0 && function.operands != operands.size())
        return error(fmt::format("{} takes {} operands, found {}", name, function.operands,
                                 operands.size()));
      return function.apply(operands);
    }
    return error(fmt::format("{} is no function of sizes that Recut knows", quote(name)));
  }

  struct DepthGuard {
    explicit DepthGuard(int& depth) : depth_(++depth) {}
    ~DepthGuard() { --depth_; }
    int& depth_;
  };

  const std::string_view text_;
  const ValueOfSymbol& value_of_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<SymbolicNumber> read_symbolic_number(std::string_view expression,
                                            const ValueOfSymbol& value_of) {
  if (expression.size() > kMaxExpressionBytes)
    return error(fmt::format("an expression of {} characters, expected at most {}",
                             expression.size(), kMaxExpressionBytes));
  const auto number = ExpressionReader(expression, value_of).read();
  if (!number) return number.diagnostics();
  if (is_whole(*number)) return SymbolicNumber(number->numerator);
  const double value = as_real(*number);
  if (!std::isfinite(value)) return error("it is no finite number");
  return SymbolicNumber(value);
}

}  // namespace recut

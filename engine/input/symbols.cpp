#include "engine/input/symbols.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>

#include "engine/support/near_name.h"
#include "engine/support/text.h"

namespace recut {
namespace {

using Number = SymbolicNumber;
using Numbers = std::vector<Number>;

constexpr int kDeepestExpression = 64;               // parentheses and calls within each other
constexpr std::size_t kLongestExpression = 1 << 12;  // bytes of an expression

double as_real(const Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

const std::int64_t* whole(const Number& number) { return std::get_if<std::int64_t>(&number); }

Diagnostic too_large() { return error("a number doesn't fit into 64 bits"); }

// A whole result of whole operands, a real one of others.
Result<Number> combine(const Number& a, const Number& b,
                       bool (*overflows)(std::int64_t, std::int64_t, std::int64_t*),
                       double (*of_reals)(double, double)) {
  if (whole(a) == nullptr || whole(b) == nullptr) return Number(of_reals(as_real(a), as_real(b)));
  std::int64_t result = 0;
  if (overflows(*whole(a), *whole(b), &result)) return too_large();
  return Number(result);
}

Result<Number> plus(const Number& a, const Number& b) {
  return combine(
      a, b, [](auto x, auto y, auto* r) { return __builtin_add_overflow(x, y, r); },
      [](double x, double y) { return x + y; });
}

Result<Number> minus(const Number& a, const Number& b) {
  return combine(
      a, b, [](auto x, auto y, auto* r) { return __builtin_sub_overflow(x, y, r); },
      [](double x, double y) { return x - y; });
}

Result<Number> times(const Number& a, const Number& b) {
  return combine(
      a, b, [](auto x, auto y, auto* r) { return __builtin_mul_overflow(x, y, r); },
      [](double x, double y) { return x * y; });
}

// Python's //: down to the next whole number.
Result<Number> floor_divided(const Number& a, const Number& b) {
  if (as_real(b) == 0) return error("a divisor is 0");
  if (whole(a) == nullptr || whole(b) == nullptr)
    return Number(std::floor(as_real(a) / as_real(b)));
  const std::int64_t x = *whole(a), y = *whole(b);
  if (x == std::numeric_limits<std::int64_t>::min() && y == -1) return too_large();
  const std::int64_t quotient = x / y;
  return Number(quotient - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0));
}

Result<Number> true_divided(const Number& a, const Number& b) {
  if (as_real(b) == 0) return error("a divisor is 0");
  return Number(as_real(a) / as_real(b));
}

// sympy's quotient of whole numbers is one where it can be.
Result<Number> divided(const Number& a, const Number& b) {
  const auto exact = floor_divided(a, b);
  if (!exact) return exact;
  const auto back = times(*exact, b);
  return back && whole(a) != nullptr && *back == a ? exact : true_divided(a, b);
}

Result<Number> remainder(const Number& a, const Number& b) {
  const auto quotient = floor_divided(a, b);
  if (!quotient) return quotient;
  const auto taken = times(*quotient, b);
  return taken ? minus(a, *taken) : taken;
}

Result<Number> raised(const Number& a, const Number& b) {
  if (whole(a) == nullptr || whole(b) == nullptr || *whole(b) < 0)
    return Number(std::pow(as_real(a), as_real(b)));
  Number result = std::int64_t{1};
  // No base but 0, 1 and -1 has so high a raised in 64 bits.
  const std::int64_t base = *whole(a);
  const std::int64_t times_over =
      base >= -1 && base <= 1 ? std::min<std::int64_t>(*whole(b), 2 + *whole(b) % 2) : *whole(b);
  for (std::int64_t i = 0; i < times_over; ++i) {
    auto next = times(result, a);
    if (!next) return next;
    result = *next;
  }
  return result;
}

Result<Number> to_whole(double value) {
  if (!(std::abs(value) < 9.2e18)) return too_large();
  return Number(static_cast<std::int64_t>(value));
}

Result<Number> extreme_of(const Numbers& of, bool most) {
  Number found = of.front();
  for (const Number& one : of)
    if (most ? as_real(one) > as_real(found) : as_real(one) < as_real(found)) found = one;
  return found;
}

Result<Number> absolute(const Number& a) {
  return as_real(a) < 0 ? minus(std::int64_t{0}, a) : Result<Number>(a);
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
       const auto negative = minus(std::int64_t{0}, n[0]);
       const auto down = negative ? floor_divided(*negative, n[1]) : negative;
       return down ? minus(std::int64_t{0}, *down) : down;
     }},
    {"IntTrueDiv", 2, [](const Numbers& n) { return true_divided(n[0], n[1]); }},
    {"FloatTrueDiv", 2, [](const Numbers& n) { return true_divided(n[0], n[1]); }},
    {"Mod", 2, [](const Numbers& n) { return remainder(n[0], n[1]); }},
    {"PythonMod", 2, [](const Numbers& n) { return remainder(n[0], n[1]); }},
    {"ModularIndexing", 3,
     [](const Numbers& n) {
       const auto quotient = floor_divided(n[0], n[1]);
       return quotient ? remainder(*quotient, n[2]) : quotient;
     }},
    {"Max", 0, [](const Numbers& n) { return extreme_of(n, true); }},
    {"Min", 0, [](const Numbers& n) { return extreme_of(n, false); }},
    {"Pow", 2, [](const Numbers& n) { return raised(n[0], n[1]); }},
    {"PowByNatural", 2, [](const Numbers& n) { return raised(n[0], n[1]); }},
    {"FloatPow", 2,
     [](const Numbers& n) { return Result<Number>(std::pow(as_real(n[0]), as_real(n[1]))); }},
    {"Abs", 1, [](const Numbers& n) { return absolute(n[0]); }},
    {"Identity", 1, [](const Numbers& n) { return Result<Number>(n[0]); }},
    {"ToFloat", 1, [](const Numbers& n) { return Result<Number>(as_real(n[0])); }},
    {"CeilToInt", 1, [](const Numbers& n) { return to_whole(std::ceil(as_real(n[0]))); }},
    {"FloorToInt", 1, [](const Numbers& n) { return to_whole(std::floor(as_real(n[0]))); }},
    {"TruncToInt", 1, [](const Numbers& n) { return to_whole(std::trunc(as_real(n[0]))); }},
    {"RoundToInt", 1, [](const Numbers& n) { return to_whole(std::nearbyint(as_real(n[0]))); }},
    {"ceiling", 1, [](const Numbers& n) { return to_whole(std::ceil(as_real(n[0]))); }},
    {"floor", 1, [](const Numbers& n) { return to_whole(std::floor(as_real(n[0]))); }},
};

bool is_symbol_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_symbol_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

// By recursive descent, with Python's precedence.
class ExpressionReader {
 public:
  ExpressionReader(std::string_view text, const Symbols& symbols)
      : text_(text), symbols_(symbols) {}

  Result<Number> read() {
    auto number = sum();
    if (number && !next().empty()) return unexpected("an operator");
    return number;
  }

 private:
  // The rest, from the next sign on.
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
    const Deeper deeper(depth_);
    if (depth_ > kDeepestExpression)
      return error(fmt::format("it is nested deeper than {}", kDeepestExpression));
    if (take("-")) {
      const auto number = signed_power();
      return number ? minus(std::int64_t{0}, *number) : number;
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
    const auto bound = symbols_.symbol(name);
    if (!bound) return bound.diagnostics();
    return Number(*bound);
  }

  Result<Number> literal(std::string_view rest) {
    std::int64_t integer = 0;
    const char* end = rest.data() + rest.size();
    const auto [stop, wrong] = std::from_chars(rest.data(), end, integer);
    const bool goes_on = stop != end && (*stop == '.' || *stop == 'e');
    if (!goes_on) {
      at_ += static_cast<std::size_t>(stop - rest.data());
      return wrong == std::errc() ? Result<Number>(integer) : too_large();
    }
    double value = 0;
    const auto [real_stop, real_wrong] = std::from_chars(rest.data(), end, value);
    at_ += static_cast<std::size_t>(real_stop - rest.data());
    return real_wrong == std::errc() ? Result<Number>(value) : too_large();
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

  struct Deeper {
    explicit Deeper(int& depth) : depth_(++depth) {}
    ~Deeper() { --depth_; }
    int& depth_;
  };

  const std::string_view text_;
  const Symbols& symbols_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

std::string words_of_hints(const std::vector<BoundSymbol>& symbols) {
  std::string words;
  for (const BoundSymbol& symbol : symbols)
    if (!symbol.given)
      words += fmt::format("{}{}={}", words.empty() ? "" : ", ", symbol.name, symbol.size);
  return words;
}

Result<Done> Symbols::check() const {
  for (const auto& [name, size] : given_) {
    const auto found = symbols_.find(name);
    if (found == symbols_.end()) {
      NearName near(name);
      std::vector<std::string> names;
      for (const auto& [known, symbol] : symbols_) names.push_back(known), near.consider(known);
      return error(names.empty()
                       ? fmt::format("--dim {}: the sizes of this graph are all fixed", name)
                       : fmt::format("--dim {}: the graph has no symbol of that name; it has {}{}",
                                     name, fmt::join(names, ", "), near.question()));
    }
    const Symbol& symbol = found->second;
    if ((symbol.least && size < *symbol.least) || (symbol.most && size > *symbol.most))
      return error(fmt::format("--dim {}={}: the graph was traced for {} from {} to {}", name, size,
                               name, symbol.least ? std::to_string(*symbol.least) : "any size",
                               symbol.most ? std::to_string(*symbol.most) : "any size"));
  }
  return Done{};
}

Result<std::int64_t> Symbols::symbol(std::string_view name) const {
  used_.emplace(name);
  if (const auto size = given_.find(std::string(name)); size != given_.end()) return size->second;
  const auto found = symbols_.find(name);
  if (found != symbols_.end() && found->second.hint) return *found->second.hint;
  return error(fmt::format("the symbol {} has no hint: give it a size by --dim {}=N", name, name));
}

Result<SymbolicNumber> Symbols::number_of(std::string_view expression) const {
  if (const auto known = known_.find(expression); known != known_.end()) return known->second;
  if (expression.size() > kLongestExpression)
    return error(fmt::format("an expression of {} characters, expected at most {}",
                             expression.size(), kLongestExpression));
  auto number = ExpressionReader(expression, *this).read();
  if (!number) {
    Diagnostics faults = number.diagnostics();
    faults.front().message =
        fmt::format("the size {}: {}", quote(expression), faults.front().message);
    return faults;
  }
  known_.emplace(expression, *number);
  return number;
}

Result<std::int64_t> Symbols::size_of(std::string_view expression) const {
  const auto number = number_of(expression);
  if (!number) return number.diagnostics();
  if (const auto* size = std::get_if<std::int64_t>(&*number)) return *size;
  const double value = std::get<double>(*number);
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
  return error(fmt::format("the size {} comes to {}, expected an int", quote(expression), value));
}

std::vector<BoundSymbol> Symbols::used() const {
  std::vector<BoundSymbol> bound;
  for (const std::string& name : used_)
    if (const auto size = symbol(name)) {
      const auto known = symbols_.find(name);
      const Symbol range = known == symbols_.end() ? Symbol() : known->second;
      bound.push_back({name, *size, given_.count(name) != 0, range.least, range.most});
    }
  return bound;
}

std::string Symbols::words_of_equal_hints() const {
  for (const auto& [name, size] : given_) {
    const auto own = symbols_.find(name);
    if (own == symbols_.end() || !own->second.hint) continue;
    std::vector<std::string> alike, all{fmt::format("--dim {}={}", name, size)};
    for (const auto& [other, symbol] : symbols_)
      if (symbol.hint == own->second.hint && given_.count(other) == 0) {
        alike.push_back(other);
        all.push_back(fmt::format("--dim {}={}", other, size));
      }
    if (!alike.empty())
      return fmt::format(
          "{} is {}, and {} {} the hint {} as it had: where they are one size, give "
          "it to all of them: {}",
          name, size, fmt::join(alike, ", "), alike.size() == 1 ? "has" : "have", *own->second.hint,
          fmt::join(all, " "));
  }
  return {};
}

}  // namespace recut

#include "engine/input/symbols.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "engine/input/printed_values.h"
#include "engine/support/text.h"
#include "engine/support/typo_correction.h"

namespace recut {

std::string hints_text(const std::vector<BoundSymbol>& symbols) {
  std::string text;
  for (const BoundSymbol& symbol : symbols)
    if (!symbol.given)
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", symbol.name, symbol.size);
  return text;
}

std::string symbols_json(const std::map<std::string, Symbol, std::less<>>& symbols) {
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value ? std::to_string(*value) : std::string("null");
  };
  std::string json = "{";
  for (const auto& [name, symbol] : symbols) {
    if (json.size() > 1) json += ',';
    append_json_text(name, json);
    // An exponent keeps a whole number from being read as a size.
    const std::string hint =
        symbol.real ? fmt::format("{:.17e}", *symbol.real) : number(symbol.hint);
    json += fmt::format(R"(:{{"hint":{},"min":{},"max":{}}})", hint, number(symbol.min),
                        number(symbol.max));
  }
  return json + "}";
}

Result<Done> Symbols::check() const {
  const auto end = [](const std::optional<std::int64_t>& size) {
    return size ? std::to_string(*size) : "any size";
  };
  const auto is_outside = [](const Symbol& symbol, std::int64_t size) {
    return (symbol.min && size < *symbol.min) || (symbol.max && size > *symbol.max);
  };
  for (const auto& [name, symbol] : symbols_) {
    if (symbol.min && symbol.max && *symbol.min > *symbol.max)
      return error(fmt::format("the range of {} is from {} to {}", name, *symbol.min, *symbol.max));
    const auto given = given_.find(name);
    if (given != given_.end() && is_outside(symbol, given->second))
      return error(fmt::format("--dim {}={}: the graph was traced for {} from {} to {}", name,
                               given->second, name, end(symbol.min), end(symbol.max)));
    if (given == given_.end() && symbol.hint && is_outside(symbol, *symbol.hint))
      return error(fmt::format("the hint of {} is {}, outside its range from {} to {}", name,
                               *symbol.hint, end(symbol.min), end(symbol.max)));
  }
  return Done{};
}

Result<Done> Symbols::check_used() const {
  for (const auto& [name, size] : given_) {
    if (used_.count(name) != 0) continue;
    if (used_.empty())
      return error(fmt::format("--dim {}: the sizes of this graph are all fixed", name));
    TypoCorrection near(name);
    for (const std::string& known : used_) near.consider(known);
    return error(fmt::format("--dim {}: no size of this graph has that symbol; found: {}{}", name,
                             fmt::join(used_, ", "), near.suggestion()));
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

// A real symbol has its traced value: `used` lists sizes alone.
Result<SymbolicNumber> Symbols::value_of(std::string_view name) const {
  const auto found = symbols_.find(name);
  if (found != symbols_.end() && found->second.real) return SymbolicNumber(*found->second.real);
  const auto size = symbol(name);
  if (!size) return size.diagnostics();
  return SymbolicNumber(*size);
}

Result<SymbolicNumber> Symbols::number_of(std::string_view expression) const {
  if (const auto known = known_.find(expression); known != known_.end()) return known->second;
  auto number =
      read_symbolic_number(expression, [this](std::string_view name) { return value_of(name); });
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
      bound.push_back({name, *size, given_.count(name) != 0, range.min, range.max});
    }
  return bound;
}

std::string Symbols::equal_hints_text() const {
  for (const auto& [name, size] : given_) {
    const auto own = symbols_.find(name);
    if (own == symbols_.end() || !own->second.hint || *own->second.hint == size) continue;
    std::vector<std::string> alike, all{fmt::format("--dim {}={}", name, size)};
    for (const auto& [other, symbol] : symbols_)
      if (symbol.hint == own->second.hint && given_.count(other) == 0 && used_.count(other) != 0) {
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

// Symbolic sizes of a file: symbols with hints and ranges, as in PyTorch's dynamic shapes
// (torch.fx.experimental.symbolic_shapes), and the values of expressions once every symbol is
// bound.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/dimensions.h"
#include "engine/input/symbolic_number.h"
#include "engine/support/result.h"

namespace recut {

// One symbol of a file. Ranges are inclusive; a missing end is unbounded.
struct Symbol {
  std::optional<std::int64_t> hint;  // the size that was traced
  std::optional<std::int64_t> min, max;
  std::optional<double> real;  // the value of a symbol that is no size but a SymFloat
};

// Member "symbols" of an fx-joint-graph file: {"s17":{"hint":128,"min":2,"max":null}}.
std::string symbols_json(const std::map<std::string, Symbol, std::less<>>& symbols);

// A symbol that the graph's sizes use, and its value: given by the user, or the file's hint.
struct BoundSymbol {
  std::string name;
  std::int64_t size = 0;
  bool given = false;
  std::optional<std::int64_t> min, max;  // its range, as Symbol has it
};

// The symbols that have their hints, "s17=128, s48=512"; "" if all were given.
std::string hints_text(const std::vector<BoundSymbol>& symbols);

class Symbols {
 public:
  Symbols() = default;
  // `given` binds symbols by name; the others have their hints.
  Symbols(std::map<std::string, Symbol, std::less<>> symbols, Dimensions given)
      : symbols_(std::move(symbols)), given_(std::move(given)) {}

  // Fails if a given size or a hint is outside its range.
  Result<Done> check() const;
  // Call it after the graph was read: fails if a size was given for a symbol that number_of never
  // saw.
  Result<Done> check_used() const;

  // The value of an expression. Fails as read_symbolic_number does, and if a symbol has neither a
  // given size nor a hint.
  Result<SymbolicNumber> number_of(std::string_view expression) const;
  // The value of a size expression: fails if it isn't an integer.
  Result<std::int64_t> size_of(std::string_view expression) const;

  // The symbols that number_of saw, by name.
  std::vector<BoundSymbol> used() const;
  // A warning that names a symbol whose given size differs from its hint, and other symbols with
  // the same hint: they may be one size. Empty if there are none.
  std::string equal_hints_text() const;

 private:
  Result<SymbolicNumber> value_of(std::string_view name) const;
  Result<std::int64_t> symbol(std::string_view name) const;

  std::map<std::string, Symbol, std::less<>> symbols_;
  Dimensions given_;
  mutable std::map<std::string, SymbolicNumber, std::less<>> known_;  // by expression
  mutable std::set<std::string, std::less<>> used_;
};

}  // namespace recut

// Symbolic sizes of a file: symbols with hints and ranges, as PyTorch's dynamic shapes have them
// (torch.fx.experimental.symbolic_shapes), and the numbers that expressions over them come to once
// every symbol is bound.
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

// One symbol of a file. Ranges include their ends; no end: unbounded.
struct Symbol {
  std::optional<std::int64_t> hint;  // the size that was traced
  std::optional<std::int64_t> least, most;
};

// A symbol that sizes of a graph are made of, and its number: given, or by the file's hint.
struct BoundSymbol {
  std::string name;
  std::int64_t size = 0;
  bool given = false;
  std::optional<std::int64_t> least, most;  // its range, as Symbol has it
};

// "s17=128, s48=512": those that have their hints; "" where all were given.
std::string words_of_hints(const std::vector<BoundSymbol>& symbols);

class Symbols {
 public:
  Symbols() = default;
  // `given` binds symbols by name; the others have their hints.
  Symbols(std::map<std::string, Symbol, std::less<>> symbols, Dimensions given)
      : symbols_(std::move(symbols)), given_(std::move(given)) {}

  // Fails where a given size or a hint is outside its range.
  Result<Done> check() const;
  // Once the graph was read: fails where a given size is of a symbol that number_of never met.
  Result<Done> check_used() const;

  // Fails as read_symbolic_number does, and where a symbol has neither a given size nor a hint.
  Result<SymbolicNumber> number_of(std::string_view expression) const;
  // The same of a size: fails where it isn't whole.
  Result<std::int64_t> size_of(std::string_view expression) const;

  // Those that number_of met, by name.
  std::vector<BoundSymbol> used() const;
  // A symbol that was given another size than its hint, and those that were met with the same hint
  // and weren't given: sizes that may be one. Empty where there are none.
  std::string words_of_equal_hints() const;

 private:
  Result<std::int64_t> symbol(std::string_view name) const;

  std::map<std::string, Symbol, std::less<>> symbols_;
  Dimensions given_;
  mutable std::map<std::string, SymbolicNumber, std::less<>> known_;  // by expression
  mutable std::set<std::string, std::less<>> used_;
};

}  // namespace recut

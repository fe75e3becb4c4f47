// Simplification of indices: rows of rules over sums, quotients and remainders, applied until none
// fits. engine/rewrite's rules are patterns of tensor operators; an index is a sum in a canonical
// order with ranges for guards, so that its rows are matched by functions over that form.
//
//   (8*i + j) div 8      i            0 <= j < 8
//   (8*i + j) mod 8      j            0 <= j < 8
//   8*(p div 8) + p mod 8             p
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "engine/codegen/loop/index.h"
#include "engine/codegen/loop/ranges.h"

namespace recut::loop {

// One law. `apply` gives the right side where the left side and the guard fit `of` (and `by`, which
// is 1 for rules of sums), and nothing elsewhere. Each row holds by itself, for all integers.
struct IndexRule {
  enum class About : std::uint8_t { quotients, remainders, sums };
  About about;
  std::string_view name;
  std::string_view law;
  std::optional<Index> (*apply)(const Index& of, std::int64_t by, const Ranges& ranges);
};
std::span<const IndexRule> index_rules();

// The index with the same values, by as many rules as fit.
Index simplify(const Index& index, const Ranges& ranges);

// Simplified quotients and remainders of simplified indices.
Index divide(const Index& of, std::int64_t by, const Ranges& ranges);
Index modulo(const Index& of, std::int64_t by, const Ranges& ranges);

}  // namespace recut::loop

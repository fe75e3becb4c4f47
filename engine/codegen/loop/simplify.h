// Simplification of indices by a table of rules over sums, quotients and remainders, applied until
// none matches. engine/rewrite's rules are patterns of tensor operators. An index is a sum in
// canonical order, whose rules select terms by divisibility and range, so each rule here is a
// function.
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

// A rewrite rule. `apply` returns the right side if the left side and the guard match `of` (and
// `by`, which is 1 for rules of sums), else nothing. Each rule holds by itself, for all integers.
struct IndexRule {
  enum class Root : std::uint8_t { quotients, remainders, sums };
  Root root;
  std::string_view name;
  std::string_view law;
  std::optional<Index> (*apply)(const Index& of, std::int64_t by, const Ranges& ranges);
};
std::span<const IndexRule> index_rules();

// An equal index, rewritten until no rule matches.
Index simplify(const Index& index, const Ranges& ranges);

// Simplified quotients and remainders of simplified indices.
Index divide(const Index& of, std::int64_t by, const Ranges& ranges);
Index modulo(const Index& of, std::int64_t by, const Ranges& ranges);

}  // namespace recut::loop

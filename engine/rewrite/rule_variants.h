// Expands a row with @optional calls into the rules that the matcher takes.
#pragma once

#include <string>

#include "engine/rewrite/rule.h"

namespace recut {

// `%y = op(%x, …) @optional(?a = 1.0, %m = none)`: if the call is missing, %x replaces %y, and the
// variables and values that only the call would bind take the given values.
struct OptionalNode {
  std::size_t node = 0;
  std::vector<std::pair<std::size_t, Argument>> variables;
  std::vector<std::size_t> absent_values;  // read as none
};

inline constexpr std::size_t kMaxOptionalNodes = 8;

// The rule with each of its n optional nodes present or missing: up to 2^n rules, each with its
// match plan. Fails if one of them cannot be matched.
Result<std::vector<Rule>> rule_variants(const Rule& rule,
                                        const std::vector<OptionalNode>& optional);

}  // namespace recut

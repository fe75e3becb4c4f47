// From a row as it is written to rules as the matcher takes them.
#pragma once

#include <string>

#include "engine/rewrite/rule.h"

namespace recut {

// `%y = op(%x, …) @optional(?a = 1.0, %m = none)`: where the call is missing, %x stands for %y, and
// what only the call would bind has the value given.
struct OptionalNode {
  std::size_t node = 0;
  std::vector<std::pair<std::size_t, Argument>> variables;
  std::vector<std::size_t> absent_values;  // read as none
};

inline constexpr std::size_t kMostOptionalNodes = 8;

// The rule with every choice of optional nodes there or missing: 2^n rules, each with its plan. Or
// why one of them can't be matched.
Result<std::vector<Rule>> rule_variants(const Rule& rule,
                                        const std::vector<OptionalNode>& optional);

}  // namespace recut

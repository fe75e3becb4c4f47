// Tests each rule alone on small graphs that it matches. The interpreter evaluates both sides on
// random and on edge values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/rewrite/rule.h"

namespace recut {

struct RuleTestOptions {
  std::uint64_t seed = 1;
  int samples = 24;     // matching graphs to find for each row
  int attempts = 4000;  // limit of graphs drawn for each form of the row
};

// The result for one row.
struct RuleTest {
  std::string rule;
  int forms = 0;        // one for each choice of @optional calls
  int forms_fired = 0;  // forms with a sample
  int samples = 0;      // graphs matched
  int comparisons = 0;  // of all outputs of a sample, for one set of values
  double worst = 0;     // the largest error found, as a fraction of the tolerance; 0: bit-exact
  std::vector<std::string> tried;  // a line a sample: types of inputs, and the calls
  std::string failure;             // empty, or the fault with its counterexample
  std::string untested;            // empty, or the reason that there is nothing to compare with
};

// One entry a row. A row for operators that Recut lacks is untested. Others fail without a sample,
// if the types of the replacement do not fit, if the row matches its own result without end, or if
// its two sides differ: in bits, beyond the tolerance of an inexact row, or finite against
// non-finite where the row does not allow it.
std::vector<RuleTest> test_rules(const RuleSet& rules, const RuleTestOptions& options = {});
RuleTest test_rule(const RuleSet& rules, std::size_t row, const RuleTestOptions& options = {});

}  // namespace recut

// Tests rules by themselves: each on small graphs that it matches, both sides evaluated by the
// interpreter on random and on edge values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/rewrite/rule.h"

namespace recut {

struct RuleTestOptions {
  std::uint64_t seed = 1;
  int samples = 24;     // graphs to find for each row, if they can be found
  int attempts = 4000;  // graphs to draw for that, at most, for each form of the row
};

// What became of one row.
struct RuleTest {
  std::string rule;
  int forms = 0;        // with each choice of what is @optional
  int forms_fired = 0;  // those that a sample was found for
  int samples = 0;      // graphs that it matched
  int comparisons = 0;  // of all outputs of a sample, for one set of values
  double worst = 0;     // the largest error found, as a part of what the row allows; 0: bit-exact
  std::vector<std::string> tried;  // a line a sample: types of inputs, and the calls
  std::string failure;             // "": none. Else what is wrong, with the counterexample
};

// One entry a row. Fails a row that has no sample; whose replacement does not type; that comes to
// no rest on its own result; or whose two sides differ: in bits, or by more than the row allows, or
// in a number for a NaN or an infinity that the row doesn't speak of.
std::vector<RuleTest> test_rules(const RuleSet& rules, const RuleTestOptions& options = {});
RuleTest test_rule(const RuleSet& rules, std::size_t row, const RuleTestOptions& options = {});

}  // namespace recut

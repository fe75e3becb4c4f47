// Small graphs that a rule's pattern matches, drawn at random: what the tester tries rules on.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/rewrite/rule.h"

namespace recut {

// Numbers from a seed, the same on every platform. Ranges by remainder: the bias is of no matter.
class SampleRandom {
 public:
  explicit SampleRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::int64_t below(std::int64_t bound);  // 0 … bound - 1
  bool one_in(std::int64_t n) { return below(n) == 0; }
  template <class List>
  auto& of(List& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(std::size(list))))];
  }

 private:
  std::uint64_t state_;
};

// The pattern's own calls on wildcards of random types, with random literals for variables; what
// `fixed` names is as it says. A variable that a guard makes equal to something known takes that
// value. Nothing where the calls don't type; whether the guard holds is for the matcher to say.
std::optional<Graph> sample_graph(const Rule& rule, SampleRandom& random, const RuleSample* fixed);

}  // namespace recut

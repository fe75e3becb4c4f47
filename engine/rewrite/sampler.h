// Draws small random graphs that a rule's pattern matches, for the rule tester.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/rewrite/rule.h"

namespace recut {

// Random numbers from a seed, the same on every platform. Ranges are remainders; their bias does
// not matter here.
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

// A graph of the pattern's calls on wildcards of random types, with random literals for variables.
// `fixed` overrides values and types. A variable that a guard sets equal to a known value takes
// that value. Returns nullopt if the calls' types do not fit; the caller's match checks the guard.
std::optional<Graph> sample_graph(const Rule& rule, SampleRandom& random, const RuleSample* fixed);

}  // namespace recut

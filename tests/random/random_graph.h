// Random graphs over the operator table's common operators: small, sound by construction (every
// call goes through the operator's shape rule) and the same for the same seed on every platform.
#pragma once

#include <cstdint>

#include "engine/ir/graph.h"
#include "engine/support/hash.h"

namespace recut::test {

// Splitmix64. Ranges by remainder: their bias is of no matter here.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return state_ = hash_mix(state_, 0); }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
  }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool one_in(std::int64_t n) { return below(n) == 0; }
  template <class List>
  auto& of(List& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(list.size())))];
  }

 private:
  std::uint64_t state_;
};

// Every other one is a joint graph: results first, then tangents of their types, then gradients
// that depend on them. Integers are never indices, so that no values make a graph fail.
Graph random_graph(std::uint64_t seed);

}  // namespace recut::test

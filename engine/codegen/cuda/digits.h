// Loop variables as numbers of several digits: what indices that divide them are sums of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/codegen/loop/kernel.h"

namespace recut::cuda {

// (variable div below) mod extent: of loops whose iterations are counted by one number over several
// dimensions, each of them. Two iterations differ in a digit.
struct Digit {
  loop::LoopId variable;
  std::int64_t below = 1;   // what a step of it is worth
  std::int64_t extent = 1;  // of the highest one, what the loop has
};

class Digits {
 public:
  // Of these loops, as indices of `indices` divide them: div(%i, a), mod(%i, b), and one of the
  // other. A loop whose divisors don't divide each other is one digit.
  Digits(const loop::Kernel& kernel, const std::vector<loop::LoopId>& loops,
         const std::vector<loop::Index>& indices);

  const std::vector<Digit>& all() const { return all_; }
  // How much of each digit the atom has; nothing where it is no sum of digits alone.
  std::optional<std::vector<std::int64_t>> factors(const loop::Atom& atom) const;

 private:
  std::vector<Digit> all_;  // by loop, lowest first
};

}  // namespace recut::cuda

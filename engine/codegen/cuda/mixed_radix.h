// Loop variables in mixed radix: indices with div and mod become sums of digits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/codegen/loop/kernel.h"

namespace recut::cuda {

// The digit (variable div below) mod extent. For a loop that was fused from several dimensions, the
// digits are these dimensions. Two different iterations differ in at least one digit.
struct RadixDigit {
  loop::LoopId variable;
  std::int64_t below = 1;   // the weight of the digit
  std::int64_t extent = 1;  // of the highest digit, as many as the loop's extent leaves
};

class MixedRadixIndex {
 public:
  // Splits loops by the divisors in `indices`: div(%i, a), mod(%i, b) and their compositions. A
  // loop whose divisors don't divide each other stays one digit.
  MixedRadixIndex(const loop::Kernel& kernel, const std::vector<loop::LoopId>& loops,
                  const std::vector<loop::Index>& indices);

  const std::vector<RadixDigit>& all() const { return all_; }
  // The atom as a sum of digits: a factor for each digit; nothing if it isn't such a sum.
  std::optional<std::vector<std::int64_t>> factors(const loop::Atom& atom) const;

 private:
  std::vector<RadixDigit> all_;  // by loop, lowest first
};

}  // namespace recut::cuda

// Greedy plans: free what is idle at the highest position until the budget holds.
#pragma once

#include <cstdint>

#include "engine/partition/peak/editor.h"

namespace recut::peak {

// How idle instances are ranked: bytes * gap^(stretch / 4) / (cost + 1).
struct Taste {
  int stretch = 2;          // 0 … 4: how much a long gap counts beside the bytes
  std::uint64_t noise = 0;  // 0: none; else a seed that shuffles ranks by up to +-30 %
  double price = 4;  // what inputs may cost per byte, as a multiple of what they are repeated for
  std::int64_t work = 1 << 20;  // runs to insert or remove at most, those of failed tries included
  std::int64_t dearest = std::int64_t{1} << 62;  // a sequence of more duration is given up
};

// Lowers the peak to `budget` or as far as it gets; false where the budget isn't reached. The log
// is left for the caller.
bool relieve(Sequence& sequence, std::int64_t budget, const Taste& taste);

}  // namespace recut::peak

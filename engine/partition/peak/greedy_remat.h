// Greedy rematerialisation: at the step of the peak, evict the idle instance with the best rank and
// recompute it before its next use, until the budget holds. The rank is DTR's heuristic (Kirisame
// et al., ICLR 2021) with the known next use in place of staleness. A cheaper move is tried first:
// hoisting or sinking a run relieves the peak without recomputation.
#pragma once

#include <cstdint>

#include "engine/partition/peak/sequence_editor.h"

namespace recut::peak {

// The rank of an idle instance: bytes * gap^(exponent_quarters / 4) / (cost + 1).
struct GreedyParameters {
  int exponent_quarters = 2;        // 0 … 4: the weight of a long gap
  std::uint64_t noise = 0;          // 0: none; else a seed that perturbs ranks by up to 30 %
  double max_input_cost = 4;        // per byte of an input, as a multiple of the evicted instance's
  std::int64_t max_work = 1 << 20;  // runs inserted or removed, failed tries included
  std::int64_t max_duration = std::int64_t{1} << 62;  // a longer sequence is given up
};

// Lowers the peak to `budget`, or as far as it gets: then false. The caller clears or rolls back
// the sequence's log. Cost: parameters.max_work changes of O(log n) at most.
bool reduce_peak(Sequence& sequence, std::int64_t budget, const GreedyParameters& parameters);

}  // namespace recut::peak

// Orders of low peak for items that each run once: beam search over topological orders. Finding the
// best order is NP-complete (one-shot pebbling: Sethi 1975).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/problem/remat_problem.h"

namespace recut::peak {

// The items to order, and the instances that live between them.
struct OrderingProblem {
  struct Instance {
    std::int64_t bytes;
    std::int32_t producer;                // -1: alive before the first item
    std::vector<std::int32_t> consumers;  // distinct items
    bool stays;                           // alive after the last item
  };
  std::int32_t items = 0;
  std::vector<std::vector<std::int32_t>> successors;  // by item; may repeat
  std::vector<Instance> instances;
};

struct Ordering {
  std::vector<std::int32_t> order;  // empty if the beam found none
  std::int64_t peak = 0;            // beyond the bytes that are alive throughout
};

// The order of the lowest peak that a beam of `width` finds. Peaks at or below `target_peak` count
// as equal. `seed` breaks ties. Each of `items` rounds copies `width` states.
Ordering find_order(const OrderingProblem& problem, int width, std::int64_t target_peak,
                    std::uint64_t seed);

// The whole problem, each computation once.
OrderingProblem ordering_problem_of(const RematProblem& problem);

}  // namespace recut::peak

// Orders of low peak for things that each run once: beam search over topological orders.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/problem/problem.h"

namespace recut::peak {

// Items to be ordered and the instances that live between them.
struct OrderQuestion {
  struct Instance {
    std::int64_t bytes;
    std::int32_t producer;                // -1: alive before the first item
    std::vector<std::int32_t> consumers;  // distinct items
    bool stays;                           // alive after the last item
  };
  std::int32_t items = 0;
  std::vector<std::vector<std::int32_t>> successors;  // by item: who must come later; may repeat
  std::vector<Instance> instances;
};

struct OrderAnswer {
  std::vector<std::int32_t> order;  // empty where none was found within `enough`
  std::int64_t peak = 0;            // above what stays alive throughout
};

// The order with the lowest peak that a beam of `width` finds; of orders that peak at or below
// `enough`, no lower ones are looked for. Ties fall by `seed`.
OrderAnswer find_order(const OrderQuestion& question, int width, std::int64_t enough,
                       std::uint64_t seed);

// The whole problem as a question.
OrderQuestion whole_order(const Problem& problem);

}  // namespace recut::peak

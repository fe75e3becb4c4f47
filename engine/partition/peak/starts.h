// Where the search begins: plans of several kinds, each made from a set of storages to save.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/peak/sequence.h"

namespace recut::peak {

// A recipe of a first plan; cheap to list, dearer to make.
struct Start {
  enum Kind : std::uint8_t { kOrder, kReordered, kPrice, kSegments } kind = kOrder;
  double price = 0;  // kPrice: duration per byte, as a multiple of the whole step's
  int stretch = 0;   // kPrice: 0 … 4 quarters: how a longer life makes a storage dearer to keep
  int segments = 0;  // kSegments
  double late = 0;   // the share of the results' bytes that a second pass makes (late_results.h)
};

// All recipes that make sense for the problem, the most useful first.
std::vector<Start> list_starts(const Problem& problem);

// Recipes from which the lowest peaks are reached; for problems with a border.
std::vector<Start> list_low_starts(const Problem& problem);

// Makes the plan, without runs that nobody reads. `budget`: kReordered looks for no lower order.
void make_start(const Start& start, Sequence& sequence, std::int64_t budget);

}  // namespace recut::peak

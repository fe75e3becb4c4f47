// Where the search begins: plans of several kinds, each made from a set of storages to save.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/peak/sequence.h"

namespace recut::peak {

// A recipe of a first plan; cheap to list, dearer to make.
struct Start {
  enum Kind : std::uint8_t { kOrder, kPrice, kSegments } kind = kOrder;
  double price = 0;  // kPrice: duration per byte, as a multiple of the whole step's
  int stretch = 0;   // kPrice: 0 … 4 quarters: how a longer life makes a storage dearer to keep
  int segments = 0;  // kSegments
};

// All recipes that make sense for the problem, the most useful first.
std::vector<Start> list_starts(const Problem& problem);

// Makes the plan, without runs that nobody reads.
void make_start(const Start& start, Sequence& sequence);

}  // namespace recut::peak

// The input of arena packing.
#pragma once

#include <cstdint>

namespace recut {

// `size` bytes, live from time `first` to `last`, both included.
struct ArenaInterval {
  std::int64_t size = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

}  // namespace recut

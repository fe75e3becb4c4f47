// What an arena is packed with.
#pragma once

#include <cstdint>

namespace recut {

// `size` bytes, or whatever unit, alive at the moments `first` … `last`, both included.
struct ArenaInterval {
  std::int64_t size = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

}  // namespace recut

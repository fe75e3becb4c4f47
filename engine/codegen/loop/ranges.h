// Intervals of indices: what is known of them from the extents of loops and from checks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

// From least to most, both in it.
struct Interval {
  std::int64_t least = 0;
  std::int64_t most = 0;

  bool within(std::int64_t first, std::int64_t last) const {
    return least >= first && most <= last;
  }
};

// What is known of loops and values; nothing of those that were never set.
class Ranges {
 public:
  Ranges() = default;
  explicit Ranges(const Kernel& kernel);  // its loops; values are known as they are checked

  void set(LoopId loop, std::int64_t extent) { set(loops_, loop.index, {0, extent - 1}); }
  void set(ValueId value, Interval interval) { set(values_, value.index, interval); }

  // An interval that holds every value of the index; nothing where one of its parts is unknown or
  // the arithmetic may overflow. Where no loop stands in it twice, the ends are met.
  std::optional<Interval> of(const Index& index) const;

 private:
  using Known = std::vector<std::optional<Interval>>;
  static void set(Known& known, std::uint32_t index, Interval interval);
  std::optional<Interval> of(const Atom& atom) const;

  Known loops_, values_;
};

}  // namespace recut::loop

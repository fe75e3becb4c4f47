// Interval analysis of indices, from the extents of loops and from checks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

// Both ends included.
struct Interval {
  std::int64_t min = 0;
  std::int64_t max = 0;

  bool within(std::int64_t first, std::int64_t last) const { return min >= first && max <= last; }
};

// Known intervals of loop variables and values.
class Ranges {
 public:
  Ranges() = default;
  explicit Ranges(const Kernel& kernel);  // sets its loops; values are added where they are checked

  void set(LoopId loop, std::int64_t extent) { set(loops_, loop.index, {0, extent - 1}); }
  void set(ValueId value, Interval interval) { set(values_, value.index, interval); }

  // An interval that contains every value of the index. Returns nothing if a part is unknown or the
  // arithmetic may overflow. Tight if no loop variable occurs in it twice.
  std::optional<Interval> of(const Index& index) const;

 private:
  using Known = std::vector<std::optional<Interval>>;
  static void set(Known& known, std::uint32_t index, Interval interval);
  std::optional<Interval> of(const Atom& atom) const;

  Known loops_, values_;
};

}  // namespace recut::loop

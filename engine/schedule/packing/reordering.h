// Squeaky-wheel search for an order that first fit packs below a target.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/schedule/packing/greedy.h"

namespace recut::packing {

// Packs an order up to the first interval that exceeds the target, moves it in front of a random
// earlier one that conflicts with it, and continues from there. Intervals keep their offsets if no
// conflicting one has moved. After some moves without progress it returns to the order that came
// furthest.
class Reordering {
 public:
  Reordering(const Instance& instance, const Conflicts& conflicts);

  // Searches from `order` for an order within `capacity`, in at most `work` more steps. Returns
  // true if there is one. `order` becomes it, else the order that packed the most intervals.
  bool search(Order& order, std::int64_t capacity, std::int64_t work, std::uint64_t seed);

  // The same as first_fit's.
  Packed pack(const Order& order);

  std::int64_t work() const { return work_; }

 private:
  void start(const Order& order);
  bool fit_all(std::int64_t capacity);
  void fit(std::uint32_t position);
  void move_forward(std::uint64_t& random_state);
  void mark_conflicts_stale(std::uint32_t interval);

  const Instance& instance_;
  const Conflicts& conflicts_;
  std::int64_t work_ = 0;
  Order order_;
  std::vector<std::uint32_t> position_;  // in the order, by interval
  std::vector<std::int64_t> offsets_;    // valid for positions below `packed_`
  std::vector<bool> stale_;              // by interval: a conflicting one has moved
  std::uint32_t from_ = 0;               // earlier positions are packed and not stale
  std::uint32_t packed_ = 0;
  std::uint32_t failed_ = 0;  // position that exceeded the target
  std::vector<std::pair<std::int64_t, std::int64_t>> obstacles_;  // scratch: from, to
  std::vector<std::uint32_t> earlier_;                            // scratch
};

}  // namespace recut::packing

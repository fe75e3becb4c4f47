#include "engine/schedule/packing/reordering.h"

#include <algorithm>

#include "engine/support/hash.h"

namespace recut::packing {
namespace {

constexpr int kMaxIdleMoves = 100;  // moves without progress

}  // namespace

Reordering::Reordering(const Instance& instance, const Conflicts& conflicts)
    : instance_(instance),
      conflicts_(conflicts),
      position_(instance.size()),
      offsets_(instance.size()),
      stale_(instance.size()) {}

void Reordering::start(const Order& order) {
  order_ = order;
  for (std::uint32_t p = 0; p < order.size(); ++p) position_[order[p]] = p;
  from_ = packed_ = 0;
}

bool Reordering::search(Order& order, std::int64_t capacity, std::int64_t work,
                        std::uint64_t seed) {
  const std::int64_t end = work_ + work;
  std::uint32_t furthest = 0;
  int idle = 0;
  for (start(order); work_ < end;) {
    if (fit_all(capacity)) {
      order = order_;
      return true;
    }
    if (failed_ > furthest) {
      furthest = failed_;
      order = order_;
      idle = 0;
    } else if (++idle > kMaxIdleMoves) {
      start(order);
      idle = 0;
      continue;
    }
    move_forward(seed);
  }
  return false;
}

Packed Reordering::pack(const Order& order) {
  start(order);
  fit_all(INT64_MAX);
  Packed packed{offsets_, 0};
  for (std::uint32_t i = 0; i < instance_.size(); ++i)
    packed.height = std::max(packed.height, offsets_[i] + instance_.intervals[i].size);
  return packed;
}

bool Reordering::fit_all(std::int64_t capacity) {
  for (std::uint32_t p = from_; p < order_.size(); ++p) {
    const std::uint32_t i = order_[p];
    const bool known = p < packed_;
    if (known && !stale_[i]) continue;
    const std::int64_t before = offsets_[i];
    fit(p);
    stale_[i] = false;
    if (offsets_[i] + instance_.intervals[i].size > capacity) {
      failed_ = p;
      return false;
    }
    if (known && offsets_[i] != before) mark_conflicts_stale(i);
  }
  return true;
}

void Reordering::fit(std::uint32_t position) {
  const std::uint32_t i = order_[position];
  const auto others = conflicts_.of(i);
  obstacles_.clear();
  for (const std::uint32_t other : others)
    if (position_[other] < position)
      obstacles_.emplace_back(offsets_[other], offsets_[other] + instance_.intervals[other].size);
  std::sort(obstacles_.begin(), obstacles_.end());
  std::int64_t offset = 0;
  for (const auto& [low, high] : obstacles_) {
    if (low >= offset + instance_.intervals[i].size) break;
    offset = std::max(offset, high);
  }
  offsets_[i] = offset;
  // Sorting dominates.
  work_ += static_cast<std::int64_t>(others.size() + 4 * obstacles_.size());
}

// There is an earlier conflicting interval, or it would be at offset 0, if no interval alone
// exceeds the capacity.
void Reordering::move_forward(std::uint64_t& random_state) {
  const std::uint32_t i = order_[failed_];
  earlier_.clear();
  for (const std::uint32_t other : conflicts_.of(i))
    if (position_[other] < failed_) earlier_.push_back(position_[other]);
  random_state = hash_mix(random_state, failed_);
  const std::uint32_t to = earlier_[static_cast<std::size_t>(random_state % earlier_.size())];
  const auto put = [&](std::uint32_t interval, std::uint32_t position) {
    order_[position] = interval;
    position_[interval] = position;
  };
  for (std::uint32_t p = failed_; p > to; --p) put(order_[p - 1], p);
  put(i, to);
  // All positions before the failed one were packed, and its interval has moved.
  packed_ = failed_ + 1;
  from_ = to;
  stale_[i] = true;
  mark_conflicts_stale(i);
}

void Reordering::mark_conflicts_stale(std::uint32_t interval) {
  const auto others = conflicts_.of(interval);
  for (const std::uint32_t other : others) stale_[other] = true;
  work_ += static_cast<std::int64_t>(others.size());
}

}  // namespace recut::packing

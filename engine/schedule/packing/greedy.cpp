// Two greedy algorithms for dynamic storage allocation. First fit places intervals in a fixed order
// at the lowest offset that is free for their whole lifetime, one query of occupied_space.h for
// each. Skyline packing only places an interval directly on the current skyline; a hole below it
// uses up the slack of its time points (capacity minus load), and the interval that overdraws the
// slack least comes next. Where nothing is overdrawn the height stays within the capacity. O(n^2)
// in the worst case, hence the limit on its work in arena.cpp.
#include "engine/schedule/packing/greedy.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "engine/schedule/packing/occupied_space.h"

namespace recut::packing {
namespace {

// The maximum load during each interval, by a sparse table (range maximum queries).
std::vector<std::int64_t> contention(const Instance& instance) {
  std::vector<std::vector<std::int64_t>> max = {instance.load};
  for (std::uint32_t step = 1; 2 * step <= instance.time_points(); step *= 2) {
    const std::vector<std::int64_t>& half = max.back();
    std::vector<std::int64_t> whole;
    for (std::size_t t = 0; t + step < half.size(); ++t)
      whole.push_back(std::max(half[t], half[t + step]));
    max.push_back(std::move(whole));
  }
  std::vector<std::int64_t> loads;
  for (const ArenaInterval& interval : instance.intervals) {
    const std::uint32_t length = interval.last - interval.first + 1;
    std::uint32_t power = 0;
    while (length >> (power + 1) != 0) ++power;
    loads.push_back(std::max(max[power][interval.first],
                             max[power][interval.last + 1 - (std::uint32_t{1} << power)]));
  }
  return loads;
}

using Key = std::tuple<std::int64_t, double, double>;

Key key_of(const ArenaInterval& interval, std::int64_t contended, Rule rule) {
  const auto size = static_cast<double>(interval.size);
  const double length = interval.last - interval.first + 1;
  switch (rule) {
    case Rule::largest:
      return {0, size, length};
    case Rule::longest:
      return {0, length, size};
    case Rule::area:
      return {0, size * length, 0};
    case Rule::contended_longest:
      return {contended, length, size};
    case Rule::contended_largest:
      return {contended, size, length};
    case Rule::contended_area:
      return {contended, size * length, 0};
  }
  return {};
}

class SkylinePacker {
 public:
  SkylinePacker(const Instance& instance, const Conflicts& conflicts, const Order& order,
                std::int64_t capacity, std::int64_t& work)
      : instance_(instance),
        conflicts_(conflicts),
        pending_(order),
        skyline_(instance.time_points(), 0),
        slack_(instance.time_points()),
        lowest_(instance.size(), 0),
        work_(work) {
    for (std::uint32_t t = 0; t < instance.time_points(); ++t)
      slack_[t] = capacity - instance.load[t];
    packed_.offsets.assign(instance.size(), 0);
  }

  Packed run() {
    while (!pending_.empty()) {
      const std::size_t at = next();
      put(pending_[at]);
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return std::move(packed_);
  }

 private:
  // An interval that would start above the end of another candidate comes after it.
  std::size_t next() {
    work_ += static_cast<std::int64_t>(pending_.size());
    std::int64_t top = INT64_MAX;
    for (const std::uint32_t i : pending_)
      top = std::min(top, lowest_[i] + instance_.intervals[i].size);
    std::size_t best = 0;
    std::int64_t smallest = INT64_MAX;
    for (std::size_t at = 0; at < pending_.size() && smallest > 0; ++at) {
      if (lowest_[pending_[at]] >= top) continue;
      const std::int64_t deficit = slack_deficit(pending_[at], smallest);
      if (deficit >= smallest) continue;
      smallest = deficit;
      best = at;
    }
    return best;
  }

  // The excess of the hole below an interval over the slack; the search stops at `limit`.
  std::int64_t slack_deficit(std::uint32_t i, std::int64_t limit) {
    std::int64_t deficit = 0;
    for (std::uint32_t t = instance_.intervals[i].first;
         t <= instance_.intervals[i].last && deficit < limit; ++t, ++work_)
      deficit = std::max(deficit, lowest_[i] - skyline_[t] - slack_[t]);
    return deficit;
  }

  void put(std::uint32_t i) {
    const ArenaInterval& interval = instance_.intervals[i];
    const std::int64_t top = lowest_[i] + interval.size;
    packed_.offsets[i] = lowest_[i];
    packed_.height = std::max(packed_.height, top);
    for (std::uint32_t t = interval.first; t <= interval.last; ++t) {
      slack_[t] -= lowest_[i] - skyline_[t];
      skyline_[t] = top;
    }
    const auto others = conflicts_.of(i);
    for (const std::uint32_t other : others) lowest_[other] = std::max(lowest_[other], top);
    work_ += static_cast<std::int64_t>(others.size());
  }

  const Instance& instance_;
  const Conflicts& conflicts_;
  Order pending_;
  std::vector<std::int64_t> skyline_;  // by time: the top of the packing
  std::vector<std::int64_t> slack_;    // by time: the remaining slack for holes
  std::vector<std::int64_t> lowest_;   // by interval: the highest point of the skyline below it
  Packed packed_;
  std::int64_t& work_;
};

}  // namespace

Order order_by(const Instance& instance, Rule rule) {
  const std::vector<std::int64_t> contended = contention(instance);
  std::vector<Key> keys;
  for (std::uint32_t i = 0; i < instance.size(); ++i)
    keys.push_back(key_of(instance.intervals[i], contended[i], rule));
  Order order(instance.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return keys[a] > keys[b]; });
  return order;
}

Order order_by_offset(const std::vector<std::int64_t>& offsets, Order before) {
  std::stable_sort(before.begin(), before.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return offsets[a] < offsets[b]; });
  return before;
}

Packed first_fit(const Instance& instance, const Order& order) {
  OccupiedSpace space(instance.time_points());
  Packed packed;
  packed.offsets.assign(instance.size(), 0);
  for (const std::uint32_t i : order) {
    const ArenaInterval& interval = instance.intervals[i];
    packed.offsets[i] = space.lowest_fit(interval);
    space.take(interval, packed.offsets[i]);
    packed.height = std::max(packed.height, packed.offsets[i] + interval.size);
  }
  return packed;
}

Packed skyline_pack(const Instance& instance, const Conflicts& conflicts, const Order& order,
                    std::int64_t capacity, std::int64_t& work) {
  return SkylinePacker(instance, conflicts, order, capacity, work).run();
}

}  // namespace recut::packing

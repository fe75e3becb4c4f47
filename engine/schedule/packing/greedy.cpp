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
  std::vector<std::vector<std::int64_t>> most = {instance.load};
  for (std::uint32_t step = 1; 2 * step <= instance.moments(); step *= 2) {
    const std::vector<std::int64_t>& half = most.back();
    std::vector<std::int64_t> whole;
    for (std::size_t t = 0; t + step < half.size(); ++t)
      whole.push_back(std::max(half[t], half[t + step]));
    most.push_back(std::move(whole));
  }
  std::vector<std::int64_t> loads;
  for (const ArenaInterval& interval : instance.intervals) {
    const std::uint32_t length = interval.last - interval.first + 1;
    std::uint32_t power = 0;
    while (length >> (power + 1) != 0) ++power;
    loads.push_back(std::max(most[power][interval.first],
                             most[power][interval.last + 1 - (std::uint32_t{1} << power)]));
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

class EvenRise {
 public:
  EvenRise(const Instance& instance, const Conflicts& conflicts, const Order& order,
           std::int64_t capacity, std::int64_t& work)
      : instance_(instance),
        conflicts_(conflicts),
        waiting_(order),
        ground_(instance.moments(), 0),
        spare_(instance.moments()),
        lowest_(instance.size(), 0),
        work_(work) {
    for (std::uint32_t t = 0; t < instance.moments(); ++t) spare_[t] = capacity - instance.load[t];
    packed_.offsets.assign(instance.size(), 0);
  }

  Packed run() {
    while (!waiting_.empty()) {
      const std::size_t at = next();
      put(waiting_[at]);
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return std::move(packed_);
  }

 private:
  // An interval that would start above the end of another candidate comes after it.
  std::size_t next() {
    work_ += static_cast<std::int64_t>(waiting_.size());
    std::int64_t roof = INT64_MAX;
    for (const std::uint32_t i : waiting_)
      roof = std::min(roof, lowest_[i] + instance_.intervals[i].size);
    std::size_t best = 0;
    std::int64_t least = INT64_MAX;
    for (std::size_t at = 0; at < waiting_.size() && least > 0; ++at) {
      if (lowest_[waiting_[at]] >= roof) continue;
      const std::int64_t over = overdraft(waiting_[at], least);
      if (over >= least) continue;
      least = over;
      best = at;
    }
    return best;
  }

  // By how much the hole below an interval exceeds the slack; the search stops at `enough`.
  std::int64_t overdraft(std::uint32_t i, std::int64_t enough) {
    std::int64_t over = 0;
    for (std::uint32_t t = instance_.intervals[i].first;
         t <= instance_.intervals[i].last && over < enough; ++t, ++work_)
      over = std::max(over, lowest_[i] - ground_[t] - spare_[t]);
    return over;
  }

  void put(std::uint32_t i) {
    const ArenaInterval& interval = instance_.intervals[i];
    const std::int64_t roof = lowest_[i] + interval.size;
    packed_.offsets[i] = lowest_[i];
    packed_.height = std::max(packed_.height, roof);
    for (std::uint32_t t = interval.first; t <= interval.last; ++t) {
      spare_[t] -= lowest_[i] - ground_[t];
      ground_[t] = roof;
    }
    const auto others = conflicts_.of(i);
    for (const std::uint32_t other : others) lowest_[other] = std::max(lowest_[other], roof);
    work_ += static_cast<std::int64_t>(others.size());
  }

  const Instance& instance_;
  const Conflicts& conflicts_;
  Order waiting_;
  std::vector<std::int64_t> ground_;  // by time: the top of the packing
  std::vector<std::int64_t> spare_;   // by time: the remaining slack for holes
  std::vector<std::int64_t> lowest_;  // by interval: the highest point of the skyline below it
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
  OccupiedSpace space(instance.moments());
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

Packed evenly_raised(const Instance& instance, const Conflicts& conflicts, const Order& order,
                     std::int64_t capacity, std::int64_t& work) {
  return EvenRise(instance, conflicts, order, capacity, work).run();
}

}  // namespace recut::packing

#include "engine/schedule/packing/occupied_space.h"

#include <algorithm>
#include <array>

namespace recut::packing {
namespace {

constexpr std::size_t kMaxNodes = 4 * 32;  // that a query visits
constexpr int kMaxHops = 4096;

// The canonical decomposition of an interval into nodes.
template <class Visit>
void each_node(std::uint32_t leaves, const ArenaInterval& interval, Visit visit) {
  std::uint32_t low = leaves + interval.first;
  std::uint32_t high = leaves + interval.last + 1;
  for (; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) visit(low++);
    if (high % 2 == 1) visit(--high);
  }
}

}  // namespace

void OffsetRanges::add(std::int64_t low, std::int64_t high) {
  const auto first =
      std::lower_bound(ranges_.begin(), ranges_.end(), low,
                       [](const Range& range, std::int64_t value) { return range.high < value; });
  auto last = first;
  for (; last != ranges_.end() && last->low <= high; ++last) {
    low = std::min(low, last->low);
    high = std::max(high, last->high);
  }
  if (first == last) {
    ranges_.insert(first, {low, high});
    return;
  }
  *first = {low, high};
  ranges_.erase(first + 1, last);
}

std::int64_t OffsetRanges::lowest_fit(std::int64_t from, std::int64_t size, int& hops) const {
  auto range =
      std::upper_bound(ranges_.begin(), ranges_.end(), from,
                       [](std::int64_t value, const Range& at) { return value < at.high; });
  for (; range != ranges_.end() && range->low < from + size && hops > 0; ++range, --hops)
    from = range->high;
  return from;
}

OccupiedSpace::OccupiedSpace(std::uint32_t time_points) {
  while (leaves_ < time_points) leaves_ *= 2;
  covering_.resize(2 * static_cast<std::size_t>(leaves_));
  anywhere_.resize(2 * static_cast<std::size_t>(leaves_));
}

std::int64_t OccupiedSpace::lowest_fit(const ArenaInterval& interval) const {
  std::array<const OffsetRanges*, kMaxNodes> taken = {};
  std::size_t count = 0;
  const auto consider = [&](const OffsetRanges& ranges) {
    if (!ranges.empty()) taken[count++] = &ranges;
  };
  each_node(leaves_, interval, [&](std::uint32_t node) { consider(anywhere_[node]); });
  for (const std::uint32_t end : {interval.first, interval.last})
    for (std::uint32_t node = (leaves_ + end) / 2; node > 0; node /= 2) consider(covering_[node]);

  // Round robin, until all nodes agree on the offset.
  std::int64_t offset = 0;
  std::size_t agreed = 0;
  int hops = kMaxHops;
  for (std::size_t i = 0; agreed < count && hops > 0; i = i + 1 == count ? 0 : i + 1) {
    const std::int64_t next = taken[i]->lowest_fit(offset, interval.size, hops);
    agreed = next == offset ? agreed + 1 : 1;
    offset = next;
  }
  if (hops > 0) return offset;
  for (std::size_t i = 0; i < count; ++i) offset = std::max(offset, taken[i]->top());
  return offset;
}

void OccupiedSpace::take(const ArenaInterval& interval, std::int64_t offset) {
  const std::int64_t high = offset + interval.size;
  each_node(leaves_, interval, [&](std::uint32_t node) {
    covering_[node].add(offset, high);
    anywhere_[node].add(offset, high);
  });
  for (const std::uint32_t end : {interval.first, interval.last})
    for (std::uint32_t node = leaves_ + end; node > 0; node /= 2) anywhere_[node].add(offset, high);
}

}  // namespace recut::packing

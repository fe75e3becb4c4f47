#include "engine/schedule/packing/instance.h"

#include <algorithm>

namespace recut::packing {
namespace {

// The map from time to compressed time, for starts and ends of intervals.
struct TimeCompression {
  std::vector<std::uint32_t> at_or_after;   // by time of the input
  std::vector<std::uint32_t> at_or_before;  // the same; meaningless before the first point
  std::uint32_t count = 0;
};

// Coordinate compression. A point is kept if an interval ends there and one has started since the
// last kept point: any set of intervals that are live together is so at a kept point.
TimeCompression compress_time(std::span<const ArenaInterval> intervals, std::uint32_t time_points) {
  std::vector<bool> births(time_points, false), deaths(time_points, false);
  for (const ArenaInterval& interval : intervals)
    if (interval.size > 0) births[interval.first] = deaths[interval.last] = true;
  TimeCompression found;
  bool born = false;
  for (std::uint32_t t = 0; t < time_points; ++t) {
    born = born || births[t];
    found.at_or_after.push_back(found.count);
    if (born && deaths[t]) {
      ++found.count;
      born = false;
    }
    found.at_or_before.push_back(found.count - 1);
  }
  return found;
}

// By point: true if an interval is live both there and at the next point.
std::vector<bool> spanned_points(std::span<const ArenaInterval> intervals,
                                 std::uint32_t time_points) {
  std::vector<std::int32_t> change(time_points + 1, 0);
  for (const ArenaInterval& interval : intervals) {
    ++change[interval.first];
    --change[interval.last];
  }
  std::vector<bool> spanned;
  std::int32_t open = 0;
  for (std::uint32_t t = 0; t < time_points; ++t) spanned.push_back((open += change[t]) > 0);
  return spanned;
}

void measure(Instance& instance, std::uint32_t time_points) {
  instance.load.assign(time_points + 1, 0);
  for (const ArenaInterval& interval : instance.intervals) {
    instance.load[interval.first] += interval.size;
    instance.load[interval.last + 1] -= interval.size;
  }
  for (std::uint32_t t = 1; t <= time_points; ++t) instance.load[t] += instance.load[t - 1];
  instance.load.pop_back();
  instance.bound = *std::max_element(instance.load.begin(), instance.load.end());
}

}  // namespace

std::vector<Instance> independent_parts(std::span<const ArenaInterval> intervals) {
  std::uint32_t end = 0;
  for (const ArenaInterval& interval : intervals) end = std::max(end, interval.last + 1);
  const TimeCompression time_points = compress_time(intervals, end);

  Instance whole;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i].size == 0) continue;
    whole.intervals.push_back({intervals[i].size, time_points.at_or_after[intervals[i].first],
                               time_points.at_or_before[intervals[i].last]});
    whole.origins.push_back(static_cast<std::uint32_t>(i));
  }

  const std::vector<bool> spanned = spanned_points(whole.intervals, time_points.count);
  std::vector<std::uint32_t> part(time_points.count, 0), begin(time_points.count, 0);
  std::vector<std::uint32_t> widths;
  for (std::uint32_t t = 0; t < time_points.count; ++t) {
    if (t == 0 || !spanned[t - 1]) widths.push_back(0);
    part[t] = static_cast<std::uint32_t>(widths.size() - 1);
    begin[t] = t - widths.back()++;
  }
  std::vector<Instance> parts(widths.size());
  for (std::uint32_t i = 0; i < whole.size(); ++i) {
    ArenaInterval interval = whole.intervals[i];
    const std::uint32_t shift = begin[interval.first];
    Instance& into = parts[part[interval.first]];
    into.intervals.push_back({interval.size, interval.first - shift, interval.last - shift});
    into.origins.push_back(whole.origins[i]);
  }
  for (std::size_t p = 0; p < parts.size(); ++p) measure(parts[p], widths[p]);
  return parts;
}

std::optional<Conflicts> Conflicts::of(const Instance& instance, std::int64_t limit) {
  std::vector<std::uint32_t> by_birth(instance.size());
  for (std::uint32_t i = 0; i < instance.size(); ++i) by_birth[i] = i;
  std::stable_sort(by_birth.begin(), by_birth.end(), [&](std::uint32_t a, std::uint32_t b) {
    return instance.intervals[a].first < instance.intervals[b].first;
  });
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::vector<std::uint32_t> alive;
  for (const std::uint32_t i : by_birth) {
    const std::uint32_t now = instance.intervals[i].first;
    alive.erase(
        std::remove_if(alive.begin(), alive.end(),
                       [&](std::uint32_t other) { return instance.intervals[other].last < now; }),
        alive.end());
    if (static_cast<std::int64_t>(pairs.size() + alive.size()) > limit) return std::nullopt;
    for (const std::uint32_t other : alive) pairs.emplace_back(i, other);
    alive.push_back(i);
  }
  Conflicts conflicts;
  conflicts.first_.assign(instance.size() + 1, 0);
  for (const auto& [a, b] : pairs) {
    ++conflicts.first_[a + 1];
    ++conflicts.first_[b + 1];
  }
  for (std::uint32_t i = 0; i < instance.size(); ++i)
    conflicts.first_[i + 1] += conflicts.first_[i];
  conflicts.others_.resize(conflicts.first_.back());
  std::vector<std::size_t> next(conflicts.first_.begin(), conflicts.first_.end() - 1);
  for (const auto& [a, b] : pairs) {
    conflicts.others_[next[a]++] = b;
    conflicts.others_[next[b]++] = a;
  }
  return conflicts;
}

}  // namespace recut::packing

// Packing by itself: no overlaps, never below the bound, as low as the exact search finds.
#include "engine/schedule/arena.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>

#include "engine/schedule/packing/greedy.h"
#include "engine/schedule/packing/occupied_space.h"
#include "engine/schedule/packing/reordering.h"
#include "tests/effort.h"
#include "tests/random/random_graph.h"
#include "tests/schedule/exact_packing.h"

namespace recut {
namespace {

using Intervals = std::vector<ArenaInterval>;

Intervals random_intervals(test::Random& random, std::int64_t count, std::int64_t moments,
                           std::int64_t most) {
  Intervals intervals;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = random.below(moments);
    const std::int64_t last = std::min(moments - 1, first + random.below(1 + moments / 2));
    intervals.push_back({random.between(1, most), static_cast<std::uint32_t>(first),
                         static_cast<std::uint32_t>(last)});
  }
  return intervals;
}

bool overlap(const Intervals& intervals, const std::vector<std::int64_t>& offsets) {
  for (std::size_t i = 0; i < intervals.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (intervals[i].first <= intervals[j].last && intervals[j].first <= intervals[i].last &&
          offsets[i] < offsets[j] + intervals[j].size &&
          offsets[j] < offsets[i] + intervals[i].size)
        return true;
  return false;
}

// What a packing says of itself is so.
void check_packing(const Intervals& intervals, const ArenaPacking& packing) {
  REQUIRE(packing.offsets.size() == intervals.size());
  REQUIRE_FALSE(overlap(intervals, packing.offsets));
  std::int64_t height = 0;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    REQUIRE(packing.offsets[i] >= 0);
    height = std::max(height, packing.offsets[i] + intervals[i].size);
  }
  REQUIRE(packing.height == height);
  REQUIRE(packing.lower_bound <= packing.height);
}

TEST_CASE("arena: nothing needs nothing", "[schedule]") {
  CHECK(pack_arena({}).height == 0);
  const Intervals empty = {{0, 0, 3}, {0, 2, 2}};
  CHECK(pack_arena(empty).height == 0);
  CHECK(pack_arena(empty).offsets == std::vector<std::int64_t>{0, 0});
  CHECK(max_live_bytes(empty) == 0);
}

TEST_CASE("arena: what never meets shares a place", "[schedule]") {
  const Intervals apart = {{8, 0, 1}, {5, 2, 2}, {7, 3, 9}};
  const ArenaPacking packing = pack_arena(apart);
  CHECK(packing.height == 8);
  CHECK(packing.offsets == std::vector<std::int64_t>{0, 0, 0});
  const Intervals together = {{8, 0, 1}, {5, 1, 2}, {7, 2, 9}};
  CHECK(pack_arena(together).height == 13);
  CHECK(max_live_bytes(together) == 13);
}

TEST_CASE("arena: a hole is worth a detour", "[schedule]") {
  // Largest first puts c on a and b and then has no room for d below 12.
  const Intervals intervals = {{4, 0, 3}, {4, 3, 9}, {4, 0, 9}, {4, 9, 21}, {4, 0, 21}};
  const ArenaPacking packing = pack_arena(intervals);
  check_packing(intervals, packing);
  CHECK(packing.height == test::ExactPacking(intervals).height());
}

TEST_CASE("arena: nested intervals stack without a gap", "[schedule]") {
  Intervals intervals;
  for (std::uint32_t i = 0; i < 200; ++i) intervals.push_back({1 + i % 7, i, 399 - i});
  const ArenaPacking packing = pack_arena(intervals);
  check_packing(intervals, packing);
  CHECK(packing.optimal());
}

std::int64_t largest_first_height(const Intervals& intervals) {
  std::int64_t height = 0;
  for (const packing::Instance& part : packing::independent_parts(intervals)) {
    const packing::Order order = packing::order_by(part, packing::Rule::largest);
    height = std::max(height, packing::first_fit(part, order).height);
  }
  return height;
}

TEST_CASE("arena: small packings are as low as the exact search finds", "[schedule]") {
  int missed_by_greedy = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    test::Random random(seed);
    const std::int64_t count = random.between(2, 8);
    const Intervals intervals = random_intervals(random, count, random.between(2, 10), 9);
    const ArenaPacking packing = pack_arena(intervals, 0.01);
    check_packing(intervals, packing);
    const std::int64_t exact = test::ExactPacking(intervals).height();
    REQUIRE(packing.height == exact);
    missed_by_greedy += largest_first_height(intervals) > exact ? 1 : 0;
  }
  CHECK(missed_by_greedy > 5);
}

TEST_CASE("arena: random packings never overlap, and effort never makes them worse", "[schedule]") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    test::Random random(seed);
    const std::int64_t count = random.between(10, 300);
    const Intervals intervals = random_intervals(random, count, random.between(5, 200), 1000);
    const ArenaPacking quick = pack_arena(intervals, 0);
    const ArenaPacking usual = pack_arena(intervals, 0.02);
    check_packing(intervals, quick);
    check_packing(intervals, usual);
    CHECK(usual.height <= quick.height);
    CHECK(quick.lower_bound == max_live_bytes(intervals));
    CHECK(pack_arena(intervals, 0.02).offsets == usual.offsets);
  }
}

TEST_CASE("arena: offsets are multiples of what all sizes are", "[schedule]") {
  test::Random random(5);
  Intervals intervals = random_intervals(random, 200, 100, 50);
  for (ArenaInterval& interval : intervals) interval.size *= 64;
  for (const std::int64_t offset : pack_arena(intervals, 0.1).offsets) REQUIRE(offset % 64 == 0);
}

TEST_CASE("arena: parts of time that nothing spans don't add up", "[schedule]") {
  test::Random random(9);
  Intervals intervals;
  for (std::uint32_t part = 0; part < 5; ++part)
    for (ArenaInterval interval : random_intervals(random, 30, 20, 100)) {
      interval.first += 20 * part;
      interval.last += 20 * part;
      intervals.push_back(interval);
    }
  const ArenaPacking packing = pack_arena(intervals, 0.05);
  check_packing(intervals, packing);
  CHECK(packing.lower_bound == max_live_bytes(intervals));
}

TEST_CASE("arena: sixty thousand intervals are packed in seconds", "[schedule]") {
  // As in a step: nine of ten live shortly, the others from somewhere to its mirror image.
  test::Random random(3);
  Intervals intervals;
  const auto count = static_cast<std::uint32_t>(test::tries(60'000)), steps = count / 3 * 2;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto first =
        static_cast<std::uint32_t>(random.below(i % 10 == 0 ? steps / 2 : steps - 20));
    const auto length = static_cast<std::uint32_t>(random.below(20));
    intervals.push_back(
        {random.between(1, 1 << 20), first, i % 10 == 0 ? steps - 1 - first : first + length});
  }
  const ArenaPacking packing = pack_arena(intervals, 0);
  // Overlaps by a sweep: all pairs would take too long.
  std::vector<std::vector<std::size_t>> born(steps), dying(steps);
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    born[intervals[i].first].push_back(i);
    dying[intervals[i].last].push_back(i);
  }
  std::map<std::int64_t, std::int64_t> alive;  // offset to end
  for (std::size_t t = 0; t < born.size(); ++t) {
    for (const std::size_t i : born[t]) {
      const auto [at, fresh] =
          alive.emplace(packing.offsets[i], packing.offsets[i] + intervals[i].size);
      REQUIRE(fresh);
      if (at != alive.begin()) REQUIRE(std::prev(at)->second <= at->first);
      if (std::next(at) != alive.end()) REQUIRE(at->second <= std::next(at)->first);
    }
    for (const std::size_t i : dying[t]) alive.erase(packing.offsets[i]);
  }
  CHECK(packing.height < packing.lower_bound * 11 / 10);
}

TEST_CASE("arena: the lowest free place is found", "[schedule]") {
  packing::OccupiedSpace space(8);
  space.take({4, 0, 3}, 0);
  space.take({2, 2, 5}, 6);
  CHECK(space.lowest_fit({1, 4, 7}) == 0);
  CHECK(space.lowest_fit({2, 3, 4}) == 4);
  CHECK(space.lowest_fit({3, 3, 4}) == 8);
  CHECK(space.lowest_fit({6, 4, 7}) == 0);
  CHECK(space.lowest_fit({7, 4, 7}) == 8);
  CHECK(space.lowest_fit({7, 6, 7}) == 0);
}

TEST_CASE("arena: the tree and the list of conflicts agree on first fit", "[schedule]") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    test::Random random(seed);
    const Intervals intervals = random_intervals(random, 120, 60, 100);
    for (const packing::Instance& part : packing::independent_parts(intervals)) {
      const auto conflicts = packing::Conflicts::of(part, 1'000'000);
      REQUIRE(conflicts);
      packing::Reordering reordering(part, *conflicts);
      for (const packing::Rule rule : packing::kRules) {
        const packing::Order order = packing::order_by(part, rule);
        REQUIRE(reordering.pack(order).offsets == packing::first_fit(part, order).offsets);
      }
    }
  }
}

TEST_CASE("arena: conflicts are bounded", "[schedule]") {
  test::Random random(1);
  const Intervals intervals = random_intervals(random, 100, 10, 5);
  for (const packing::Instance& part : packing::independent_parts(intervals))
    CHECK_FALSE(packing::Conflicts::of(part, 100));
}

}  // namespace
}  // namespace recut

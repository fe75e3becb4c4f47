// The difference of lines: right always, shortest where it can be had, and quick.
#include "gui/text/line_difference.h"

#include <catch2/catch_test_macros.hpp>
#include <random>

namespace recut::gui {
namespace {

using Sequence = std::vector<std::uint32_t>;

// Plays the script and checks its promises; returns the number of edits.
std::size_t edits_of(const Sequence& before, const Sequence& after) {
  const auto runs = difference(before, after);
  std::size_t x = 0, y = 0, edits = 0;
  const EditRun* last = nullptr;
  for (const EditRun& run : runs) {
    REQUIRE(run.before == x);
    REQUIRE(run.after == y);
    REQUIRE(run.count > 0);
    if (last != nullptr) {
      REQUIRE(last->edit != run.edit);
      REQUIRE_FALSE((last->edit == Edit::added && run.edit == Edit::removed));
    }
    last = &run;
    for (std::size_t i = 0; i < run.count && run.edit == Edit::same; ++i)
      REQUIRE(before[x + i] == after[y + i]);
    if (run.edit != Edit::same) edits += run.count;
    if (run.edit != Edit::added) x += run.count;
    if (run.edit != Edit::removed) y += run.count;
  }
  REQUIRE(x == before.size());
  REQUIRE(y == after.size());
  return edits;
}

// By the length of the longest common subsequence, in quadratic time.
std::size_t fewest_edits(const Sequence& before, const Sequence& after) {
  std::vector<std::size_t> row(after.size() + 1, 0);
  for (const std::uint32_t element : before) {
    std::size_t corner = 0;
    for (std::size_t y = 1; y <= after.size(); ++y) {
      const std::size_t above = row[y];
      row[y] = after[y - 1] == element ? corner + 1 : std::max(above, row[y - 1]);
      corner = above;
    }
  }
  return before.size() + after.size() - 2 * row.back();
}

Sequence drawn(std::mt19937& random, std::size_t most, std::uint32_t letters) {
  Sequence sequence(random() % (most + 1));
  for (std::uint32_t& element : sequence) element = random() % letters;
  return sequence;
}

TEST_CASE("difference: the paper's example", "[gui]") {
  // ABCABBA to CBABAC: five edits.
  CHECK(edits_of({0, 1, 2, 0, 1, 1, 0}, {2, 1, 0, 1, 0, 2}) == 5);
}

TEST_CASE("difference: ends and nothing", "[gui]") {
  CHECK(edits_of({}, {}) == 0);
  CHECK(edits_of({1, 2}, {}) == 2);
  CHECK(edits_of({}, {1, 2}) == 2);
  CHECK(edits_of({1, 2}, {1, 2}) == 0);
  CHECK(edits_of({1}, {2}) == 2);
  CHECK(edits_of({1, 2, 3}, {1, 3}) == 1);
  CHECK(edits_of({1, 2}, {2, 1}) == 2);
  const auto runs = difference(Sequence{7, 1, 8}, Sequence{7, 2, 8});
  CHECK(runs == std::vector<EditRun>{{Edit::same, 0, 0, 1},
                                     {Edit::removed, 1, 1, 1},
                                     {Edit::added, 2, 1, 1},
                                     {Edit::same, 2, 2, 1}});
}

TEST_CASE("difference: random sequences have shortest scripts", "[gui]") {
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const std::uint32_t letters = 1 + random() % 8;
    const Sequence before = drawn(random, 24, letters);
    const Sequence after = drawn(random, 24, letters);
    INFO("seed " << seed);
    REQUIRE(edits_of(before, after) == fewest_edits(before, after));
  }
}

TEST_CASE("difference: ten thousand changed lines are given up on in time", "[gui]") {
  constexpr std::uint32_t count = 10'000;
  Sequence rising(count), falling(count), other(count), shuffled(count);
  std::mt19937 random(1);
  for (std::uint32_t i = 0; i < count; ++i) {
    rising[i] = shuffled[i] = i;
    falling[i] = count - 1 - i;
    other[i] = count + i;
  }
  for (std::uint32_t i = count; i > 1; --i) std::swap(shuffled[i - 1], shuffled[random() % i]);
  for (const Sequence* after : {&falling, &other, &shuffled})
    CHECK(edits_of(rising, *after) <= 2 * count);
}

}  // namespace
}  // namespace recut::gui

// The sequence whose peak is kept up to date, against the peak measured from its definition.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "engine/partition/peak/memory_tree.h"
#include "engine/partition/peak/reorder_window.h"
#include "engine/partition/peak/resegment.h"
#include "engine/partition/peak/sequence_editor.h"
#include "tests/partition/problems.h"

namespace recut::peak {
namespace {

TEST_CASE("memory tree: ranges add and their maxima are those of a list", "[partition]") {
  RandomSource dice(3);
  MemoryTree tree(64);
  std::vector<std::int64_t> list(64, 0);
  for (int round = 0; round < 2000; ++round) {
    auto a = static_cast<std::uint32_t>(1 + dice.below(62));
    auto b = static_cast<std::uint32_t>(1 + dice.below(62));
    if (a > b) std::swap(a, b);
    const std::int64_t value = dice.below(100) - 50;
    tree.add(a, b, value);
    for (std::uint32_t i = a; i <= b; ++i) list[i] += value;
    const auto c = static_cast<std::uint32_t>(1 + dice.below(62));
    REQUIRE(tree.at(c) == list[c]);
    REQUIRE(tree.maximum(a, b) == *std::max_element(list.begin() + a, list.begin() + b + 1));
    REQUIRE(tree.maximum() == *std::max_element(list.begin(), list.end()));
    const std::uint32_t above = tree.first_above(10);
    const auto expected = std::find_if(list.begin(), list.end(), [](auto v) { return v > 10; });
    REQUIRE(above == (expected == list.end() ? 0 : expected - list.begin()));
  }
}

void check(const Sequence& s) {
  const auto peak = measured_peak(s.problem(), s.computations());
  REQUIRE(peak.has_value());
  REQUIRE(s.peak() == *peak);
}

// One random edit; whether it worked doesn't matter, what stands must be sound.
void edit(Sequence& s, SequenceEditor& editor, RandomSource& dice) {
  const RematProblem& p = s.problem();
  const auto c = static_cast<std::int32_t>(dice.below(p.size()));
  const RunId run = s.last_run(c);
  switch (dice.below(4)) {
    case 0: {
      if (p.once(c)) return;
      const RunId use = s.last_use(run, 0);
      if (use == run) return;
      const RunId from = s.last_use_before(run, 0, s.label(use));
      editor.drop({run, 0, from, use}, s.peak() * 3 / 4, 1e30, 30);
      return;
    }
    case 1:
      editor.remove(run);
      return;
    case 2: {
      const RunId at = s.first_run(static_cast<std::int32_t>(dice.below(p.size())));
      if (!s.before(at, run)) return;
      const std::size_t mark = s.mark();
      if (!editor.hoist(run, at, 2)) s.roll_back(mark);
      return;
    }
    default:
      reorder_window(s, run, 6, 3, 0, 1);
  }
}

TEST_CASE("sequence: the peak stays true under edits and roll-backs", "[partition]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RematProblem p = random_problem(seed, 24);
    RandomSource dice(seed + 100);
    Sequence s(p);
    s.assign(p.order);
    SequenceEditor editor(s);
    for (int round = 0; round < 120; ++round) {
      CAPTURE(seed, round);
      const std::vector<std::int32_t> before = s.computations();
      const std::size_t mark = s.mark();
      const std::size_t at = static_cast<std::size_t>(dice.below(p.size()));
      if (s.computation(s.first_run(p.order[at])) == p.end()) continue;
      edit(s, editor, dice);
      check(s);
      if (dice.below(2) == 0) {
        s.roll_back(mark);
        REQUIRE(s.computations() == before);
        check(s);
      }
    }
  }
}

TEST_CASE("resegment: the sequence stays sound, and can be taken back", "[partition]") {
  int tried = 0, changed = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const RematProblem p = random_problem(seed, 24);
    if (p.boundary() < 0) continue;
    CAPTURE(seed);
    ++tried;
    Sequence s(p);
    s.assign(p.order);
    const auto boundary = static_cast<std::int32_t>(
        std::find(p.order.begin(), p.order.end(), p.boundary()) - p.order.begin());
    if (resegment(s, 1 + static_cast<int>(seed % 4), 0, boundary, 5000)) {
      check(s);
      for (std::int32_t c = 0; c < p.size(); ++c) REQUIRE(s.run_count(c) >= 1);
      changed += s.computations() != p.order ? 1 : 0;
    }
    s.roll_back(0);
    REQUIRE(s.computations() == p.order);
    check(s);
  }
  CHECK(tried > 10);
  CHECK(changed > tried / 4);
}

}  // namespace
}  // namespace recut::peak

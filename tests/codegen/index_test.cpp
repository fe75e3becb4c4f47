// Each rewrite rule of indices on its own, over all small values; then all rules together.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <set>

#include "engine/codegen/loop/printer.h"
#include "engine/codegen/loop/simplify.h"
#include "tests/random/random_graph.h"

namespace recut::loop {
namespace {

const LoopId kI(0), kJ(1);

struct Extents {
  std::int64_t i, j;
};

Ranges ranges_for(Extents extents) {
  Ranges ranges;
  ranges.set(kI, extents.i);
  ranges.set(kJ, extents.j);
  return ranges;
}

// True if two indices are equal for all i and j.
bool same(const Index& a, const Index& b, Extents extents) {
  for (std::int64_t i = 0; i < extents.i; ++i)
    for (std::int64_t j = 0; j < extents.j; ++j) {
      const auto number = [&](const Atom& atom) { return atom.id == 0 ? i : j; };
      if (evaluate(a, number) != evaluate(b, number)) return false;
    }
  return true;
}

// Sums that match left sides of rules, with and without quotients.
std::vector<Index> subjects(std::int64_t by) {
  std::vector<Index> sums;
  for (const std::int64_t f : {-6, -1, 0, 1, 2, 3, 4, 6, 8})
    for (const std::int64_t g : {-2, 0, 1, 2, 4})
      for (const std::int64_t c : {-5, -1, 0, 1, 7})
        sums.push_back(f * Index(kI) + g * Index(kJ) + c);
  std::vector<Index> out = sums;
  for (std::size_t s = 0; s < sums.size(); s += 7)
    for (const std::int64_t inner : {2, 3, 4, 12}) {
      const Index q = quotient(sums[s], inner), r = remainder(sums[s], inner);
      for (const Index& x :
           {q, r, inner * q + r, 2 * inner * q + 2 * r, inner * remainder(q, 3) + r, r + sums[s],
            by * q + r, remainder(q, by) + by * quotient(sums[s], inner * by)})
        out.push_back(x);
    }
  return out;
}

TEST_CASE("each rule of indices holds over all small values", "[codegen]") {
  for (const IndexRule& rule : index_rules()) {
    INFO(rule.name);
    int hits = 0;
    for (const std::int64_t by : {1, 2, 3, 4, 6, 8, 12}) {
      if (rule.root == IndexRule::Root::sums && by != 1 && by != 3) continue;
      for (const Index& of : subjects(by))
        for (const Extents extents : {Extents{3, 2}, {5, 4}, {1, 8}, {13, 3}}) {
          const auto better = rule.apply(of, by, ranges_for(extents));
          if (!better) continue;
          ++hits;
          const Index before = rule.root == IndexRule::Root::quotients    ? quotient(of, by)
                               : rule.root == IndexRule::Root::remainders ? remainder(of, by)
                                                                          : of;
          if (!same(before, *better, extents))
            FAIL(fmt::format("by {}, extents {} and {}", by, extents.i, extents.j));
        }
    }
    CHECK(hits > 20);
  }
}

TEST_CASE("random indices keep their values when they are simplified", "[codegen]") {
  test::Random random(5);
  for (int round = 0; round < 3000; ++round) {
    Index index = random.below(9) * Index(kI) + random.between(-3, 8) * Index(kJ);
    for (std::int64_t depth = random.below(4); depth > 0; --depth) {
      const std::int64_t by = random.between(1, 12);
      const Index inner = index;
      index = random.one_in(2) ? quotient(inner, by) : remainder(inner, by);
      if (random.one_in(3)) index = random.between(1, 12) * index + remainder(inner, by);
      if (random.one_in(3)) index = index + Index(random.between(-9, 9)) + Index(kI);
    }
    const Extents extents{random.between(1, 12), random.between(1, 12)};
    const Ranges ranges = ranges_for(extents);
    const Index simple = simplify(index, ranges);
    REQUIRE(same(index, simple, extents));
    CHECK(simplify(simple, ranges) == simple);
  }
}

TEST_CASE("delinearize and linearize are inverse", "[codegen]") {
  Kernel kernel;
  kernel.loops = {{"p", 4 * 7 * 9}, {"j", 9}};
  const Ranges ranges(kernel);
  const auto text = [&](const Index& index) { return format(simplify(index, ranges), kernel); };
  const Index p(kI);
  const Index planes = quotient(p, 63), rows = remainder(quotient(p, 9), 7),
              columns = remainder(p, 9);
  CHECK(text(63 * planes + 9 * rows + columns) == "%p");
  CHECK(text(9 * rows + columns) == "mod(%p, 63)");
  CHECK(text(7 * planes + rows) == "div(%p, 9)");
  CHECK(text(quotient(9 * p + Index(kJ), 9)) == "%p");
  CHECK(text(remainder(9 * p + Index(kJ), 9)) == "%j");
  CHECK(text(quotient(18 * p + 2 * Index(kJ) + 1, 36)) == "div(%p, 2)");
  CHECK(text(remainder(p, 252)) == "%p");
  CHECK(text(quotient(p + -252, 252)) == "-1");
}

}  // namespace
}  // namespace recut::loop

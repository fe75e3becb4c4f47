// The timeline against the definition, and what annealing promises: sound sequences within the
// budget, the same ones each time.
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/partition/peak/portable_math.h"
#include "engine/partition/peak/simulated_annealing.h"
#include "engine/partition/peak/solver.h"
#include "tests/partition/problems.h"

namespace recut::peak {
namespace {

// All that a timeline keeps up to date, against one made anew and against the definition.
void check(const RematProblem& p, const Timeline& line, std::int64_t budget) {
  const std::vector<std::int32_t> sequence = line.computations();
  Timeline fresh(p, budget);
  fresh.assign(sequence);
  REQUIRE(line.excess() == fresh.excess());
  REQUIRE(line.duration() == duration_of(p, sequence));
  REQUIRE(line.repeats().size() == sequence.size() - static_cast<std::size_t>(p.size()));
  std::int64_t peak = 0;
  for (std::int32_t i = 0; i < line.steps(); ++i) {
    REQUIRE(line.step(line.run(i)) == i);
    REQUIRE(line.bytes(i) == fresh.bytes(i));
    peak = std::max(peak, line.bytes(i));
    for (std::int32_t j = 0; j < p.storage_count(sequence[i]); ++j)
      REQUIRE(line.step(line.last_use(line.run(i), j)) ==
              fresh.step(fresh.last_use(fresh.run(i), j)));
  }
  REQUIRE(line.peak() == peak);
  REQUIRE(peak == measured_peak(p, sequence));
}

// Prices one random change and makes it, or not.
void change(const RematProblem& p, Timeline& line, RandomSource& dice) {
  const std::int64_t excess = line.excess(), duration = line.duration();
  const RunId run = line.run(static_cast<std::int32_t>(dice.below(line.steps())));
  const std::int32_t c = line.computation(run);
  Timeline::Change price;
  if (const auto kind = dice.below(4); kind == 0 && !line.repeats().empty()) {
    const auto count = static_cast<std::int64_t>(line.repeats().size());
    price = line.price_removal(line.repeats()[static_cast<std::size_t>(dice.below(count))]);
  } else if (kind == 1 && !p.once(c)) {
    // Again, later, for whoever reads it then; a first reader keeps the first run in use.
    const RunId first = line.first_use_after(run, 0, line.step(run));
    if (first == kNoRun || line.last_use(run, 0) == first) return;
    const std::int32_t last = line.step(line.last_use(run, 0));
    const std::int32_t low = line.step(first) + 1;
    price = line.price_insertion(c, low + static_cast<std::int32_t>(dice.below(last - low + 1)));
  } else {
    const Timeline::Range range = line.move_range(run);
    REQUIRE(range.low <= line.step(run));
    REQUIRE(range.high >= line.step(run));
    const auto to = range.low + static_cast<std::int32_t>(dice.below(range.high - range.low + 1));
    if (to == line.step(run)) return;
    price = line.price_move(run, to);
  }
  if (dice.below(3) == 0) return;
  line.apply();
  REQUIRE(line.excess() == excess + price.excess);
  REQUIRE(line.duration() == duration + price.duration);
}

TEST_CASE("timeline: prices come true, and nothing drifts", "[partition]") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const RematProblem p = random_problem(seed, 10 + static_cast<int>(seed));
    RandomSource dice(seed + 7);
    const std::int64_t budget = *measured_peak(p, p.order) * 2 / 3;
    Timeline line(p, budget);
    line.assign(p.order);
    for (int round = 0; round < 300; ++round) {
      CAPTURE(seed, round);
      change(p, line, dice);
      check(p, line, budget);
    }
  }
}

TEST_CASE("timeline: bytes near the largest that a problem may have", "[partition]") {
  const RematProblem small = random_problem(5, 60);
  RematProblem p;
  for (std::int32_t c = 0; c < small.size(); ++c) {
    std::vector<std::int64_t> bytes;
    std::vector<std::int32_t> reads;
    for (std::int32_t j = 0; j < small.storage_count(c); ++j)
      bytes.push_back(small.bytes(small.first_storage(c) + j) << 50);
    for (const RematProblem::Read& read : small.reads(c)) reads.push_back(read.storage);
    p.add(small.duration(c), bytes, reads, small.flags(c));
  }
  p.finish();
  p.order = small.order;
  RandomSource dice(3);
  Timeline line(p, 1000);
  line.assign(p.order);
  REQUIRE(line.excess_unit() > 1);
  REQUIRE(line.excess() > 0);
  for (int round = 0; round < 200; ++round) {
    change(p, line, dice);
    check(p, line, 1000);
  }
}

TEST_CASE("power: logarithms and geometric steps are near the library's", "[partition]") {
  for (const double x : {0x1p-52, 1e-9, 0.1, 0.5, 0.70710678, 0.999, 1.0, 1.5, 2.0, 1e6, 1e300}) {
    CAPTURE(x);
    CHECK(std::abs(logarithm(x) - std::log(x)) <= 1e-8);
  }
  CHECK(interpolate_geometric(8, 8, 0.3) == 8);
  CHECK(interpolate_geometric(0.5, 0.01, 0) == 0.5);
  double before = 0.5;
  for (int i = 1; i <= 10; ++i) {
    const double share = i / 10.0, now = interpolate_geometric(0.5, 0.01, share);
    CHECK(now < before);
    CHECK(std::abs(now / (0.5 * std::pow(0.02, share)) - 1) < 0.02);
    before = now;
  }
}

TEST_CASE("anneal: plans are sound, hold the budget and come out the same", "[partition]") {
  int held = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const RematProblem p = random_problem(seed, 12 + static_cast<int>(seed));
    const std::int64_t budget = *measured_peak(p, p.order) * 3 / 4;
    const auto run = [&] {
      SimulatedAnnealing annealer(p, budget, p.order, seed);
      for (int i = 0; i < 40; ++i) annealer.advance(256, i / 40.0);
      return annealer.best();
    };
    const std::vector<std::int32_t> best = run();
    REQUIRE(best == run());
    if (best.empty()) continue;
    ++held;
    const auto peak = measured_peak(p, best);
    REQUIRE(peak.has_value());
    CHECK(*peak <= budget);
  }
  CHECK(held > 12);
}

TEST_CASE("search: without a border, large problems too keep to the budget", "[partition]") {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    CAPTURE(seed);
    RematProblem p = random_problem(seed, 150);
    p.set_boundary(-1);
    const std::int64_t easy = *measured_peak(p, p.order);
    for (const int percent : {85, 60}) {
      SolveOptions options;
      options.effort = 20'000;
      const Outcome found = search(p, easy * percent / 100, options);
      REQUIRE(measured_peak(p, found.sequence) == found.peak);
      CHECK(found.holds == (found.peak <= easy * percent / 100));
      CHECK(found.duration == duration_of(p, found.sequence));
      CHECK(search(p, easy * percent / 100, options).sequence == found.sequence);
    }
  }
}

}  // namespace
}  // namespace recut::peak

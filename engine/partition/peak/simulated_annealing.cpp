#include "engine/partition/peak/simulated_annealing.h"

#include <algorithm>

#include "engine/partition/peak/portable_math.h"
#include "engine/support/hash.h"

namespace recut::peak {
namespace {

// Tuned on the graphs of tests/bench/peak_bench.cpp's table `moccasin`.
constexpr std::int64_t kTriesPerWeight = 256;
constexpr double kRemovals = 0.1, kInsertions = 0.15;  // of all tries; the others move a run
constexpr double kSettling = 0.2;      // the last share: the weight follows the excess
constexpr double kWeightStep = 1.02;   // factor by which it then rises or falls
constexpr double kWeightLimit = 1000;  // times `end_penalty`
constexpr std::int32_t kReach = 100;   // the most steps that a run moves
constexpr std::int32_t kChainOdds = 8, kChainDepth = 2;
constexpr std::int32_t kSwapOdds = 8, kSwapDraws = 16;
constexpr std::int32_t kBack = 400;  // the most steps from a swapped run to its gap

}  // namespace

SimulatedAnnealing::SimulatedAnnealing(const RematProblem& problem, std::int64_t budget,
                                       std::span<const std::int32_t> start, std::uint64_t seed,
                                       const CoolingSchedule& cooling)
    : p_(problem), cooling_(cooling), timeline_(problem, budget), random_(seed) {
  timeline_.assign(start);
  double bytes = 0;
  for (std::int32_t s = 0; s < p_.storages(); ++s) bytes += static_cast<double>(p_.bytes(s));
  mean_bytes_ = std::max(1.0, bytes / std::max(1, p_.storages()));
  mean_duration_ = std::max(1.0, static_cast<double>(p_.total_duration()) / std::max(1, p_.size()));
  keep_best();
}

std::int32_t SimulatedAnnealing::random_below(std::int32_t below) {
  random_ = hash_mix(random_, 1);
  return static_cast<std::int32_t>(((random_ >> 32) * static_cast<std::uint64_t>(below)) >> 32);
}

// In (0, 1].
double SimulatedAnnealing::random_unit() {
  random_ = hash_mix(random_, 1);
  return static_cast<double>((random_ >> 12) + 1) * 0x1p-52;
}

void SimulatedAnnealing::set_weights(double progress) {
  temperature_ = mean_duration_ * interpolate_geometric(cooling_.start_temperature,
                                                        cooling_.end_temperature, progress);
  const double unit = mean_duration_ / mean_bytes_ * static_cast<double>(timeline_.excess_unit());
  if (progress < 1 - kSettling) {
    weight_ = unit * interpolate_geometric(cooling_.start_penalty, cooling_.end_penalty,
                                           progress / (1 - kSettling));
  } else {
    weight_ = std::min(was_feasible_ ? weight_ / kWeightStep : weight_ * kWeightStep,
                       unit * cooling_.end_penalty * kWeightLimit);
  }
  was_feasible_ = timeline_.excess() == 0;
}

bool SimulatedAnnealing::advance(std::int64_t tries, double progress) {
  const bool held = holds();
  const std::int64_t before = best_duration_;
  for (std::int64_t i = 0; i < tries; ++i) {
    if (i % kTriesPerWeight == 0) set_weights(progress);
    const double kind = random_unit();
    if (kind < kRemovals) {
      try_removal();
    } else if (kind < kRemovals + kInsertions) {
      try_insertion();
    } else {
      try_move();
    }
  }
  return holds() && (!held || best_duration_ < before);
}

double SimulatedAnnealing::cost(const Timeline::Change& change) const {
  return static_cast<double>(change.duration) + weight_ * static_cast<double>(change.excess);
}

// The Metropolis rule (1953): a move of positive cost passes with probability
// exp(-cost/temperature).
bool SimulatedAnnealing::accepts(const Timeline::Change& change) {
  const double price = cost(change);
  return price <= 0 || price < -temperature_ * logarithm(random_unit());
}

void SimulatedAnnealing::keep_best() {
  if (timeline_.excess() != 0) return;
  was_feasible_ = true;
  if (holds() && timeline_.duration() >= best_duration_) return;
  best_ = timeline_.computations();
  best_duration_ = timeline_.duration();
  best_peak_ = timeline_.peak();
}

void SimulatedAnnealing::try_move() {
  const RunId run = timeline_.run(random_below(timeline_.steps()));
  const std::int32_t here = timeline_.step(run);
  const Timeline::Range range = timeline_.move_range(run);
  const std::int32_t low = std::max(range.low, here - kReach);
  const std::int32_t high = std::min(range.high, here + kReach);
  if (low >= high) return;
  const std::int32_t to = low + random_below(high - low);
  if (!accepts(timeline_.price_move(run, to < here ? to : to + 1))) return;
  timeline_.apply();
  keep_best();
}

// The gap of an instance around `step`. None if it is dead there, and none before the first use:
// moving the run closes that gap for free.
std::optional<SimulatedAnnealing::Gap> SimulatedAnnealing::gap_across(RunId run, std::int32_t slot,
                                                                      std::int32_t step) const {
  const RunId user = timeline_.first_use_after(run, slot, step);
  if (user == kNoRun) return {};
  const std::int32_t to = timeline_.step(user);
  const RunId used = timeline_.last_use_before(run, slot, to);
  if (used == run || timeline_.step(used) + 1 == to) return {};
  return Gap{timeline_.computation(run), timeline_.step(used), to};
}

// Ends an idle instance and recomputes it within the gap between two of its uses, half the time at
// the gap's end.
void SimulatedAnnealing::try_insertion() {
  const RunId run = timeline_.run(random_below(timeline_.steps()));
  const std::int32_t c = timeline_.computation(run);
  if (p_.once(c) || p_.storage_count(c) == 0) return;
  const std::int32_t slot = random_below(p_.storage_count(c));
  const std::int32_t born = timeline_.step(run),
                     dies = timeline_.step(timeline_.last_use(run, slot));
  if (born == dies) return;
  const auto gap = gap_across(run, slot, born + random_below(dies - born));
  if (!gap) return;
  const bool at_end = random_below(2) == 0;
  if (accepts(timeline_.price_insertion(
          c, at_end ? gap->to : gap->from + 1 + random_below(gap->to - gap->from)))) {
    timeline_.apply();
    keep_best();
  } else if (random_below(kChainOdds) == 0 && try_chain(*gap)) {
    keep_best();
  }
}

// An insertion together with those inputs that would have to live for it alone. Tried only if the
// insertion would pay with free inputs: a lower bound on its cost.
bool SimulatedAnnealing::try_chain(const Gap& gap) {
  if (cost(timeline_.price_insertion_alone(gap.computation, gap.to)) > 0) return false;
  chain_.clear();
  chain_price_ = {};
  insert_chain(gap.computation, gap.to, kChainDepth);
  if (chain_.size() > 1 && accepts(chain_price_)) return true;
  for (; !chain_.empty(); chain_.pop_back()) {
    timeline_.price_removal(chain_.back());
    timeline_.apply();
  }
  return false;
}

void SimulatedAnnealing::insert_chain(std::int32_t computation, std::int32_t at, int depth) {
  const Timeline::Change price = timeline_.price_insertion(computation, at);
  chain_price_.duration += price.duration;
  chain_price_.excess += price.excess;
  timeline_.apply();
  const RunId run = timeline_.run(at);
  chain_.push_back(run);
  if (depth == 0) return;
  for (const RematProblem::Read& read : p_.reads(computation)) {
    const std::int32_t here = timeline_.step(run);
    const RunId source = timeline_.latest_before(read.producer, here);
    if (p_.once(read.producer) || timeline_.last_use(source, read.slot) != run) continue;
    const RunId used = timeline_.last_use_before(source, read.slot, here);
    if (used == source || timeline_.step(used) + 1 >= here) continue;
    // Now and then an input pays only together with its own inputs.
    if (cost(timeline_.price_insertion(read.producer, here)) < 0 || random_below(6) == 0)
      insert_chain(read.producer, here, depth - 1);
  }
}

void SimulatedAnnealing::try_removal() {
  if (timeline_.repeats().empty()) return;
  const RunId run =
      timeline_.repeats()[random_below(static_cast<std::int32_t>(timeline_.repeats().size()))];
  if (accepts(timeline_.price_removal(run))) {
    const std::int32_t c = timeline_.computation(run), at = timeline_.step(run);
    timeline_.apply();
    remove_inputs(c, at);
    keep_best();
  } else if (random_below(kSwapOdds) == 0 && try_swap(run)) {
    keep_best();
  }
}

// Cleans up after the removal of a run of `computation` before step `at`: removes producer runs
// that lost their last reader and aren't their computation's only run, recursively.
void SimulatedAnnealing::remove_inputs(std::int32_t computation, std::int32_t at) {
  for (const RematProblem::Read& read : p_.reads(computation)) {
    const RunId run = timeline_.latest_before(read.producer, at);
    if (run == kNoRun || !timeline_.unused(run) || timeline_.alone(run)) continue;
    const std::int32_t stood = timeline_.step(run);
    timeline_.price_removal(run);
    timeline_.apply();
    remove_inputs(read.producer, stood);
  }
}

// A random gap in low … high of a recently made instance; none if the draw misses.
std::optional<SimulatedAnnealing::Gap> SimulatedAnnealing::random_gap(std::int32_t low,
                                                                      std::int32_t high) {
  const std::int32_t step = low + random_below(high - low + 1);
  const RunId run = timeline_.run(step - random_below(std::min(step + 1, kBack)));
  const std::int32_t c = timeline_.computation(run);
  if (p_.once(c) || p_.storage_count(c) == 0) return {};
  return gap_across(run, random_below(p_.storage_count(c)), step);
}

// Removes a recomputation, and inserts the cheapest of some random ones in its place.
bool SimulatedAnnealing::try_swap(RunId run) {
  const std::int32_t c = timeline_.computation(run), at = timeline_.step(run);
  const Timeline::Change removal = timeline_.price_removal(run);
  const std::int32_t low = timeline_.first_step_priced();
  timeline_.apply();
  std::optional<Gap> best;
  Timeline::Change best_price;
  for (int i = 0; i < kSwapDraws && low < at; ++i) {
    const auto gap = random_gap(low, at - 1);
    if (!gap || gap->computation == c) continue;
    const Timeline::Change price = timeline_.price_insertion(gap->computation, gap->to);
    if (!best || cost(price) < cost(best_price)) best = gap, best_price = price;
  }
  const Timeline::Change both{removal.duration + best_price.duration,
                              removal.excess + best_price.excess};
  const bool good = best && accepts(both);
  timeline_.price_insertion(good ? best->computation : c, good ? best->to : at);
  timeline_.apply();
  if (good) remove_inputs(c, at);
  return good;
}

}  // namespace recut::peak

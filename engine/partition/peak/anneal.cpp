#include "engine/partition/peak/anneal.h"

#include <algorithm>

#include "engine/partition/peak/power.h"
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

Annealer::Annealer(const Problem& problem, std::int64_t budget, std::span<const std::int32_t> start,
                   std::uint64_t seed, const Cooling& cooling)
    : p_(problem), cooling_(cooling), line_(problem, budget), random_(seed) {
  line_.assign(start);
  double bytes = 0;
  for (std::int32_t s = 0; s < p_.storages(); ++s) bytes += static_cast<double>(p_.bytes(s));
  mean_bytes_ = std::max(1.0, bytes / std::max(1, p_.storages()));
  mean_duration_ = std::max(1.0, static_cast<double>(p_.total_duration()) / std::max(1, p_.size()));
  keep_best();
}

std::int32_t Annealer::draw(std::int32_t below) {
  random_ = hash_mix(random_, 1);
  return static_cast<std::int32_t>(((random_ >> 32) * static_cast<std::uint64_t>(below)) >> 32);
}

// In (0, 1].
double Annealer::draw_share() {
  random_ = hash_mix(random_, 1);
  return static_cast<double>((random_ >> 12) + 1) * 0x1p-52;
}

void Annealer::set_weights(double progress) {
  temperature_ = mean_duration_ * between(cooling_.hot, cooling_.cold, progress);
  const double unit = mean_duration_ / mean_bytes_ * static_cast<double>(line_.excess_unit());
  if (progress < 1 - kSettling) {
    weight_ = unit * between(cooling_.light, cooling_.heavy, progress / (1 - kSettling));
  } else {
    weight_ = std::min(fitted_ ? weight_ / kWeightStep : weight_ * kWeightStep,
                       unit * cooling_.heavy * kWeightLimit);
  }
  fitted_ = line_.excess() == 0;
}

bool Annealer::advance(std::int64_t tries, double progress) {
  const bool held = holds();
  const std::int64_t before = best_duration_;
  for (std::int64_t i = 0; i < tries; ++i) {
    if (i % kTriesPerWeight == 0) set_weights(progress);
    const double kind = draw_share();
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

double Annealer::cost(const Timeline::Change& change) const {
  return static_cast<double>(change.duration) + weight_ * static_cast<double>(change.excess);
}

// The Metropolis rule (1953): a move of positive cost passes with probability
// exp(-cost/temperature).
bool Annealer::accepts(const Timeline::Change& change) {
  const double price = cost(change);
  return price <= 0 || price < -temperature_ * logarithm(draw_share());
}

void Annealer::keep_best() {
  if (line_.excess() != 0) return;
  fitted_ = true;
  if (holds() && line_.duration() >= best_duration_) return;
  best_ = line_.computations();
  best_duration_ = line_.duration();
  best_peak_ = line_.peak();
}

void Annealer::try_move() {
  const RunId run = line_.run(draw(line_.steps()));
  const std::int32_t here = line_.step(run);
  const Timeline::Range room = line_.room(run);
  const std::int32_t low = std::max(room.low, here - kReach);
  const std::int32_t high = std::min(room.high, here + kReach);
  if (low >= high) return;
  const std::int32_t to = low + draw(high - low);
  if (!accepts(line_.price_move(run, to < here ? to : to + 1))) return;
  line_.make();
  keep_best();
}

// The gap of an instance around `step`. None if it is dead there, and none before the first use:
// moving the run closes that gap for free.
std::optional<Annealer::Gap> Annealer::gap_across(RunId run, std::int32_t slot,
                                                  std::int32_t step) const {
  const RunId user = line_.first_use_after(run, slot, step);
  if (user == kNoRun) return {};
  const std::int32_t to = line_.step(user);
  const RunId used = line_.last_use_before(run, slot, to);
  if (used == run || line_.step(used) + 1 == to) return {};
  return Gap{line_.computation(run), line_.step(used), to};
}

// Ends an idle instance and recomputes it within the gap between two of its uses, half the time at
// the gap's end.
void Annealer::try_insertion() {
  const RunId run = line_.run(draw(line_.steps()));
  const std::int32_t c = line_.computation(run);
  if (p_.once(c) || p_.storage_count(c) == 0) return;
  const std::int32_t slot = draw(p_.storage_count(c));
  const std::int32_t born = line_.step(run), dies = line_.step(line_.last_use(run, slot));
  if (born == dies) return;
  const auto gap = gap_across(run, slot, born + draw(dies - born));
  if (!gap) return;
  const bool at_end = draw(2) == 0;
  if (accepts(
          line_.price_insertion(c, at_end ? gap->to : gap->from + 1 + draw(gap->to - gap->from)))) {
    line_.make();
    keep_best();
  } else if (draw(kChainOdds) == 0 && try_chain(*gap)) {
    keep_best();
  }
}

// An insertion together with those inputs that would have to live for it alone. Tried only if the
// insertion would pay with free inputs: a lower bound on its cost.
bool Annealer::try_chain(const Gap& gap) {
  if (cost(line_.price_insertion_alone(gap.computation, gap.to)) > 0) return false;
  chain_.clear();
  chain_price_ = {};
  insert_chain(gap.computation, gap.to, kChainDepth);
  if (chain_.size() > 1 && accepts(chain_price_)) return true;
  for (; !chain_.empty(); chain_.pop_back()) {
    line_.price_removal(chain_.back());
    line_.make();
  }
  return false;
}

void Annealer::insert_chain(std::int32_t computation, std::int32_t at, int depth) {
  const Timeline::Change price = line_.price_insertion(computation, at);
  chain_price_.duration += price.duration;
  chain_price_.excess += price.excess;
  line_.make();
  const RunId run = line_.run(at);
  chain_.push_back(run);
  if (depth == 0) return;
  for (const Problem::Read& read : p_.reads(computation)) {
    const std::int32_t here = line_.step(run);
    const RunId source = line_.latest_before(read.producer, here);
    if (p_.once(read.producer) || line_.last_use(source, read.slot) != run) continue;
    const RunId used = line_.last_use_before(source, read.slot, here);
    if (used == source || line_.step(used) + 1 >= here) continue;
    // Now and then an input pays only together with its own inputs.
    if (cost(line_.price_insertion(read.producer, here)) < 0 || draw(6) == 0)
      insert_chain(read.producer, here, depth - 1);
  }
}

void Annealer::try_removal() {
  if (line_.repeats().empty()) return;
  const RunId run = line_.repeats()[draw(static_cast<std::int32_t>(line_.repeats().size()))];
  if (accepts(line_.price_removal(run))) {
    const std::int32_t c = line_.computation(run), at = line_.step(run);
    line_.make();
    remove_inputs(c, at);
    keep_best();
  } else if (draw(kSwapOdds) == 0 && try_swap(run)) {
    keep_best();
  }
}

// Cleans up after the removal of a run of `computation` before step `at`: removes producer runs
// that lost their last reader and aren't their computation's only run, recursively.
void Annealer::remove_inputs(std::int32_t computation, std::int32_t at) {
  for (const Problem::Read& read : p_.reads(computation)) {
    const RunId run = line_.latest_before(read.producer, at);
    if (run == kNoRun || !line_.unused(run) || line_.alone(run)) continue;
    const std::int32_t stood = line_.step(run);
    line_.price_removal(run);
    line_.make();
    remove_inputs(read.producer, stood);
  }
}

// A random gap in low … high of a recently made instance; none if the draw misses.
std::optional<Annealer::Gap> Annealer::draw_gap(std::int32_t low, std::int32_t high) {
  const std::int32_t step = low + draw(high - low + 1);
  const RunId run = line_.run(step - draw(std::min(step + 1, kBack)));
  const std::int32_t c = line_.computation(run);
  if (p_.once(c) || p_.storage_count(c) == 0) return {};
  return gap_across(run, draw(p_.storage_count(c)), step);
}

// Removes a recomputation, and inserts the cheapest of some random ones in its place.
bool Annealer::try_swap(RunId run) {
  const std::int32_t c = line_.computation(run), at = line_.step(run);
  const Timeline::Change removal = line_.price_removal(run);
  const std::int32_t low = line_.first_step_priced();
  line_.make();
  std::optional<Gap> best;
  Timeline::Change best_price;
  for (int i = 0; i < kSwapDraws && low < at; ++i) {
    const auto gap = draw_gap(low, at - 1);
    if (!gap || gap->computation == c) continue;
    const Timeline::Change price = line_.price_insertion(gap->computation, gap->to);
    if (!best || cost(price) < cost(best_price)) best = gap, best_price = price;
  }
  const Timeline::Change both{removal.duration + best_price.duration,
                              removal.excess + best_price.excess};
  const bool good = best && accepts(both);
  line_.price_insertion(good ? best->computation : c, good ? best->to : at);
  line_.make();
  if (good) remove_inputs(c, at);
  return good;
}

}  // namespace recut::peak

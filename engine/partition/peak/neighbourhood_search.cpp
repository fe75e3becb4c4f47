// One step of the search: a random change to the sequence, a repair within the budget, a trim, and
// a roll-back unless the plan got shorter. Changes are of five kinds: ruin (remove recomputations),
// drop (evict idle values), shift (move a run), reorder (beam search in a window) and resegment
// (respace checkpoints). Their frequencies adapt to their gain per work.
//
// Invariant: between steps the sequence is a valid plan within the budget, no longer than before.
// The log of changes makes a roll-back cost as much as the change itself, without copies. After
// large neighbourhood search (Shaw 1998; Schrimpf et al. 2000).
#include "engine/partition/peak/neighbourhood_search.h"

#include <algorithm>
#include <vector>

#include "engine/partition/peak/reorder_window.h"
#include "engine/partition/peak/resegment.h"
#include "engine/support/hash.h"

namespace recut::peak {
namespace {

// A ruin that takes more work to repair won't pay. Without a limit, one could use up the effort of
// thousands.
constexpr std::int64_t kRepairWork = 1000;
constexpr std::int64_t kResegmentWork = 2000;
// A try may get longer by 1/10 of the overhead or 1/1000 of one step: trimming wins back no more.
constexpr std::int64_t kTrimmed = 10, kTrimmedOfAll = 1000;
constexpr std::int64_t kScale = 1 << 16;
constexpr std::int64_t kMinShare = kScale / 24;  // of the work, at least
constexpr int kHalfLife = 128;                   // tries after which all records are halved

}  // namespace

std::int32_t NeighbourhoodSearch::count_forward(const RematProblem& p) {
  if (p.boundary() < 0) return 0;
  const auto boundary = std::find(p.order.begin(), p.order.end(), p.boundary());
  return static_cast<std::int32_t>(boundary - p.order.begin());
}

std::uint64_t NeighbourhoodSearch::random_below(std::uint64_t below) {
  random_ = hash_mix(random_, 1);
  return (random_ >> 20) % below;
}

RunId NeighbourhoodSearch::random_run() {
  for (;;) {
    const auto run = static_cast<RunId>(random_below(s_.id_limit()));
    if (s_.alive(run)) return run;
  }
}

RunId NeighbourhoodSearch::random_repeat() {
  for (int i = 0; i < 60; ++i) {
    const RunId run = random_run();
    if (s_.previous_same(run) != kNoRun) return run;
  }
  return kNoRun;
}

// Ruin: removes some recomputations, nearby or anywhere, whatever the peak.
bool NeighbourhoodSearch::ruin_some() {
  RunId run = random_repeat();
  if (run == kNoRun) return false;
  int left = 1 + static_cast<int>(random_below(random_below(3) == 0 ? 24 : 6));
  const bool same_place = random_below(2) == 0;
  if (same_place) {
    while (run != kNoRun && left > 0) {
      const RunId previous = s_.previous(run);
      if (s_.previous_same(run) != kNoRun && random_below(4) != 0) {
        editor_.remove(run);
        --left;
      }
      if (previous == kNoRun || !s_.alive(previous)) break;
      run = previous;
    }
  } else {
    for (; left > 0 && run != kNoRun; --left, run = random_repeat()) editor_.remove(run);
  }
  return repair();
}

// Recreate: greedy rematerialisation with random parameters.
bool NeighbourhoodSearch::repair() {
  const int exponents[] = {0, 1, 2, 4};
  GreedyParameters parameters;
  parameters.exponent_quarters = exponents[random_below(4)];
  parameters.noise = random_ | 1;
  if (forward_ > 0) parameters.max_work = kRepairWork;
  parameters.max_duration = max_duration_;
  return reduce_peak(s_, budget_, parameters);
}

// Respaces the checkpoints in one part of forward.
bool NeighbourhoodSearch::resegment_some() {
  const int segments = 2 + static_cast<int>(random_below(random_below(2) == 0 ? 64 : 16));
  const auto forward = static_cast<std::uint64_t>(forward_);
  const std::uint64_t width = std::max<std::uint64_t>(2, forward / 32 + random_below(forward / 4));
  const std::uint64_t begin = random_below(forward), end = std::min(forward, begin + width);
  return resegment(s_, segments, static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end),
                   kResegmentWork) &&
         repair();
}

// Evicts a few random idle instances, although the budget holds: trimming may then win more.
bool NeighbourhoodSearch::drop_some() {
  const RematProblem& p = s_.problem();
  int left = 1 + static_cast<int>(random_below(3));
  for (int i = 0; i < 30 && left > 0; ++i) {
    const RunId run = random_run();
    const std::int32_t c = s_.computation(run);
    if (p.once(c) || p.storage_count(c) == 0) continue;
    const auto slot = static_cast<std::int32_t>(random_below(p.storage_count(c)));
    const RunId last = s_.last_use(run, slot);
    if (last == run) continue;
    // The gap before a random use.
    const std::uint32_t low = s_.label(run), high = s_.label(last);
    const auto at = low + static_cast<std::uint32_t>(random_below(high - low));
    const RunId to = s_.first_use_after(run, slot, at);
    if (to == kNoRun) continue;
    const RunId from = s_.last_use_before(run, slot, s_.label(to));
    if (s_.next(from) == to) continue;
    if (!editor_.drop({run, slot, from, to}, budget_, 1e30, 200)) return false;
    --left;
  }
  return s_.peak() <= budget_;
}

// Moves a run to its last producer or to its first reader.
bool NeighbourhoodSearch::shift_some() {
  const RematProblem& p = s_.problem();
  const RunId run = random_run();
  const std::int32_t c = s_.computation(run);
  std::uint32_t low = 0, high = s_.tree().leaves();
  RunId after = kNoRun, before = kNoRun;
  for (const RematProblem::Read& read : p.reads(c)) {
    const RunId producer = s_.latest_before(read.producer, s_.label(run));
    if (s_.label(producer) > low) low = s_.label(producer), after = producer;
  }
  for (std::int32_t j = 0; j < p.storage_count(c); ++j) {
    const RunId use = s_.first_use_after(run, j, s_.label(run));
    if (use != kNoRun && s_.label(use) < high) high = s_.label(use), before = use;
  }
  if (s_.previous_same(run) != kNoRun && s_.label(s_.previous_same(run)) > low) return false;
  if ((p.flags(c) & RematProblem::kBeforeBoundary) != 0 || c == p.boundary() || c == p.end())
    return false;
  const bool early = random_below(2) == 0;
  const RunId target = early ? after : before == kNoRun ? kNoRun : s_.previous(before);
  if (target == run || (early && s_.previous(run) == target) || (!early && target == kNoRun))
    return false;
  s_.move_after(target, run);
  return true;
}

// Reorders a few dozen runs around one by beam search.
bool NeighbourhoodSearch::reorder_at(RunId run) {
  const int count = 6 + static_cast<int>(random_below(random_below(3) == 0 ? 60 : 20));
  for (int back = static_cast<int>(random_below(count)); back > 0 && s_.previous(run) != kNoRun;
       --back)
    run = s_.previous(run);
  const std::uint64_t seed = random_;  // separate: the evaluation order of arguments is unspecified
  return reorder_window(s_, run, count, 2 + static_cast<int>(random_below(6)), 0, seed);
}

// Adaptive choice (Ropke and Pisinger 2006): which move pays differs from plan to plan and changes
// as the plan improves. Each kind gets a share of the work by its recent gain per work, with a
// minimum. In integers, so that every platform chooses alike.
NeighbourhoodSearch::Kind NeighbourhoodSearch::choose() {
  std::int64_t odds[kKinds], all = 0, rates = 0, rate[kKinds];
  const int kinds = forward_ >= 4 ? kKinds : kKinds - 1;  // resegmenting needs a forward part
  for (int k = 0; k < kinds; ++k) rates += rate[k] = kScale * records_[k].gain / records_[k].work;
  for (int k = 0; k < kinds; ++k) {
    const std::int64_t share = kMinShare + (rates == 0 ? 0 : kScale * rate[k] / rates);
    odds[k] = std::max<std::int64_t>(1, kScale * share * records_[k].tries / records_[k].work);
    all += odds[k];
  }
  auto at = static_cast<std::int64_t>(random_below(static_cast<std::uint64_t>(all)));
  int k = 0;
  while (at >= odds[k]) at -= odds[k++];
  return static_cast<Kind>(k);
}

void NeighbourhoodSearch::remember(Kind kind, std::int64_t gain, std::int64_t work) {
  // Gains count as shares of the overhead, so that the sums stay small.
  const std::int64_t all =
      std::max<std::int64_t>(1, s_.duration() + gain - s_.problem().total_duration());
  records_[kind].gain += static_cast<std::int64_t>(
      std::min(1.0, static_cast<double>(gain) / static_cast<double>(all)) * kScale);
  records_[kind].work += work + 1;
  ++records_[kind].tries;
  if (++remembered_ % kHalfLife != 0) return;
  for (Record& record : records_) {
    record.gain /= 2;
    record.work = std::max<std::int64_t>(1, record.work / 2);
    record.tries = std::max<std::int64_t>(1, record.tries / 2);
  }
}

bool NeighbourhoodSearch::change(Kind kind) {
  switch (kind) {
    case kRuin:
      return ruin_some();
    case kDrop:
      return drop_some();
    case kShift:
      return shift_some();
    case kReorder:
      return reorder_at(random_run());
    case kResegment:
      return resegment_some();
    case kKinds:
      break;
  }
  return false;
}

bool NeighbourhoodSearch::step() {
  const std::size_t mark = s_.mark();
  const std::int64_t duration = s_.duration(), peak = s_.peak(), work = s_.work();
  const RematProblem& p = s_.problem();
  max_duration_ = duration + std::max((duration - p.total_duration()) / kTrimmed,
                                      p.total_duration() / kTrimmedOfAll);
  const Kind kind = choose();
  bool good = change(kind) && s_.peak() <= budget_ && s_.duration() <= max_duration_;
  // An unchanged duration mostly means an unchanged plan: trimming wins nothing.
  if (good && s_.duration() != duration) trimmer_.trim();
  good = good && (s_.duration() < duration ||
                  (s_.duration() == duration && (kind == kReorder || s_.peak() <= peak)));
  remember(kind, good ? duration - s_.duration() : 0, s_.work() - work);
  if (good) {
    s_.forget_log();
    return s_.duration() < duration;
  }
  s_.roll_back(mark);
  return false;
}

bool NeighbourhoodSearch::descend() {
  const std::size_t mark = s_.mark();
  const std::int64_t peak = s_.peak(), duration = s_.duration();
  const RunId highest = s_.run_at(s_.tree().first_maximum());
  const std::uint64_t kind = random_below(8);
  bool good = true;
  if (kind < 2) {
    reorder_at(random_below(2) == 0 ? highest : random_run());
  } else if (kind < 4) {
    for (int i = 0; i < 8; ++i) shift_some();
  } else {
    GreedyParameters parameters;
    parameters.exponent_quarters = static_cast<int>(random_below(4));
    parameters.noise = random_ | 1;
    parameters.max_work = 2000;
    if (kind < 6) {
      RunId run = highest;
      for (std::uint64_t i = random_below(40); i > 0 && s_.next(run) != kNoRun; --i)
        run = s_.next(run);
      for (std::uint64_t i = 0; i < 60 && run != kNoRun; ++i) {
        const RunId previous = s_.previous(run);
        if (s_.previous_same(run) != kNoRun && random_below(3) == 0) editor_.remove(run);
        if (previous == kNoRun || !s_.alive(previous)) break;
        run = previous;
      }
    }
    reduce_peak(
        s_, std::max(budget_, peak - 1 - static_cast<std::int64_t>(random_below(peak / 50 + 1))),
        parameters);
  }
  if (good && (s_.peak() < peak || (s_.peak() == peak && s_.duration() <= duration))) {
    s_.forget_log();
    return s_.peak() < peak;
  }
  s_.roll_back(mark);
  return false;
}

}  // namespace recut::peak

#include "engine/partition/peak/trim_recomputes.h"

#include <algorithm>

namespace recut::peak {

void Trimmer::trim() {
  const RematProblem& p = s_.problem();
  obstacles_.resize(s_.id_limit());
  for (bool changed = true; changed;) {
    changed = false;
    runs_.clear();
    s_.charge(s_.runs() / 64);
    for (const std::int32_t c : s_.repeated())
      for (RunId run = s_.next_same(s_.first_run(c)); run != kNoRun; run = s_.next_same(run))
        if (may_fit(run)) runs_.push_back(run);
    std::sort(runs_.begin(), runs_.end(), [&](RunId a, RunId b) {
      const std::int64_t cost_a = p.duration(s_.computation(a));
      const std::int64_t cost_b = p.duration(s_.computation(b));
      return cost_a != cost_b ? cost_a > cost_b : s_.before(a, b);
    });
    for (const RunId run : runs_) {
      if (!s_.alive(run) || s_.previous_same(run) == kNoRun || !may_fit(run)) continue;
      const std::int64_t before = s_.duration();
      if (remove(run)) {
        changed |= s_.duration() < before;
      } else {
        remember_failure(run);
      }
    }
  }
}

bool Trimmer::remove(RunId run) {
  const std::size_t mark = s_.mark();
  const std::int64_t before = s_.duration();
  editor_.remove(run);
  if (s_.peak() <= budget_ && s_.duration() <= before) return true;
  s_.roll_back(mark);
  return false;
}

// The remembered obstacle still blocks the removal.
bool Trimmer::blocked(RunId run) const {
  const Obstacle& o = obstacles_[run];
  return o.at != kNoRun && s_.alive(o.at) && s_.before(o.at, run) &&
         s_.before(s_.previous_same(run), o.at) && s_.bytes_at(o.at) > o.limit;
}

// A necessary condition for removing `run`: the lengthened lifetimes must fit, even if all inputs
// that live for it alone are freed.
bool Trimmer::may_fit(RunId run) {
  if (blocked(run)) return false;
  const RematProblem& p = s_.problem();
  const std::int32_t c = s_.computation(run);
  const RunId old = s_.previous_same(run);
  std::int64_t freed = 0;
  bool chain = false;
  for (const RematProblem::Read& read : p.reads(c)) {
    const RunId producer = s_.latest_before(read.producer, s_.label(run));
    if (s_.last_use(producer, read.slot) != run) continue;
    freed += p.bytes(read.storage);
    chain |= s_.previous_same(producer) != kNoRun;
  }
  for (std::int32_t j = 0; j < p.storage_count(c); ++j) {
    if (s_.last_use(run, j) == run) continue;
    const std::int64_t bytes = p.bytes(p.first_storage(c) + j);
    const std::uint32_t from = s_.label(s_.last_use(old, j)) + 1;
    std::uint32_t to = s_.label(run);
    if (from >= to) continue;
    // If recomputed inputs go with it, only the first half of the gap gives a valid condition.
    if (chain) to = from + (to - from) / 2;
    const std::int64_t height = s_.tree().maximum(from, to);
    if (height + bytes - freed > budget_) {
      remember(run, from, to, height, budget_ - bytes + freed);
      return false;
    }
  }
  return true;
}

void Trimmer::remember(RunId run, std::uint32_t from, std::uint32_t to, std::int64_t height,
                       std::int64_t limit) {
  const RunId at = s_.run_at(s_.tree().first_above(from, height - 1));
  if (at != kNoRun && s_.label(at) >= from && s_.label(at) < to) obstacles_[run] = {at, limit};
}

// A removal failed that may_fit() allowed: it isn't tried again until the highest step of its first
// gap is lower than now.
void Trimmer::remember_failure(RunId run) {
  const RematProblem& p = s_.problem();
  const std::int32_t c = s_.computation(run);
  const RunId old = s_.previous_same(run);
  for (std::int32_t j = 0; j < p.storage_count(c); ++j) {
    const std::uint32_t from = s_.label(s_.last_use(old, j)) + 1, to = s_.label(run);
    if (s_.last_use(run, j) == run || from >= to) continue;
    const std::int64_t height = s_.tree().maximum(from, to - 1);
    return remember(run, from, to, height, height - 1);
  }
}

}  // namespace recut::peak

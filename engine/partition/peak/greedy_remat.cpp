#include "engine/partition/peak/greedy_remat.h"

#include <algorithm>
#include <vector>

#include "engine/partition/peak/portable_math.h"
#include "engine/support/hash.h"

// One round lowers the highest step of the sequence:
//
//   1. collect the instances that are idle across that step, as a heap by rank
//   2. for the best: keep instead of recompute, hoist its reader, sink its producer, or drop it
//   3. if nothing helped: undo recomputations that cause the peak, then retry leniently
//
// Invariant: a move stays only if the step gets lower and the peak doesn't rise; else it is rolled
// back. Rounds end at the budget, at max_work, or at max_duration. Collecting costs O(runs) a
// round, each move O(log n) a run.

namespace recut::peak {
namespace {

struct EvictionCandidate {
  Gap gap;
  std::int64_t bytes;
  std::int64_t cost = 0;
  double rank = 0;
  bool estimated = false;  // false: the rank assumes that all inputs are available

  // For a heap with the highest rank on top.
  bool operator<(const EvictionCandidate& other) const {
    if (rank != other.rank) return rank < other.rank;
    return gap.run != other.gap.run ? gap.run > other.gap.run : gap.slot > other.gap.slot;
  }
};

// Collects the idle instances that are alive across `label`.
void collect_gaps(const Sequence& s, std::uint32_t label, std::vector<Gap>& gaps) {
  const RematProblem& p = s.problem();
  gaps.clear();
  for (RunId run = s.first(); run != kNoRun && s.label(run) < label; run = s.next(run)) {
    const std::int32_t c = s.computation(run);
    if (p.once(c)) continue;
    for (std::int32_t j = 0; j < p.storage_count(c); ++j) {
      if (p.bytes(p.first_storage(c) + j) == 0) continue;
      if (s.label(s.last_use(run, j)) <= label) continue;
      const RunId from = s.last_use_before(run, j, label + 1);
      if (s.label(from) == label) continue;
      const RunId to = s.first_use_after(run, j, label);
      if (to != kNoRun) gaps.push_back({run, j, from, to});
    }
  }
}

class PeakReducer {
 public:
  PeakReducer(Sequence& s, std::int64_t budget, const GreedyParameters& parameters)
      : s_(s),
        editor_(s),
        budget_(budget),
        parameters_(parameters),
        work_limit_(s.work() + parameters.max_work),
        undone_(s.problem().size(), 0) {}

  bool run() {
    const std::int64_t steps = 4 * static_cast<std::int64_t>(s_.problem().size()) + 100;
    for (std::int64_t i = 0; i < steps && s_.peak() > budget_ && s_.work() < work_limit_; ++i)
      if (s_.duration() > parameters_.max_duration || !lower(s_.tree().first_maximum()))
        return false;
    return s_.peak() <= budget_;
  }

 private:
  double rank_of(const EvictionCandidate& c) const {
    const double length = s_.label(c.gap.to) - s_.label(c.gap.from);
    double rank = static_cast<double>(c.bytes) *
                  quarter_power(length, parameters_.exponent_quarters) /
                  (static_cast<double>(c.cost) + 1);
    if (parameters_.noise != 0) {
      const std::uint64_t h =
          hash_mix(parameters_.noise, static_cast<std::uint64_t>(s_.computation(c.gap.run)));
      rank *= 0.7 + 0.6 * static_cast<double>(h >> 40) / static_cast<double>(1 << 24);
    }
    return rank;
  }

  EvictionCandidate candidate(const Gap& gap) const {
    const RematProblem& p = s_.problem();
    const std::int32_t computation = s_.computation(gap.run);
    EvictionCandidate c{gap, p.bytes(p.first_storage(computation) + gap.slot)};
    c.cost = p.duration(computation);
    c.rank = rank_of(c);
    return c;
  }

  // `over`: a label whose bytes are above the budget.
  void estimate(EvictionCandidate& c, std::uint32_t over) const {
    int look = 24;
    c.cost = editor_.estimate(s_.computation(c.gap.run), s_.label(c.gap.to), budget_,
                              std::int64_t{1} << 60, look, over);
    c.rank = rank_of(c);
    c.estimated = true;
  }

  // Frees instances at `label` until its bytes are lower than before, or within the budget.
  bool lower(std::uint32_t label) {
    const RunId at = s_.run_at(label);
    collect_gaps(s_, s_.label(at), gaps_);
    s_.charge(s_.runs() / 64 + static_cast<std::int64_t>(gaps_.size()) / 4);
    candidates_.clear();
    tried_.clear();
    for (const Gap& gap : gaps_) candidates_.push_back(candidate(gap));
    std::make_heap(candidates_.begin(), candidates_.end());
    if (try_best(at)) return true;
    if (try_undo(at)) return true;
    return retry_leniently(at);
  }

  bool is_still_idle(const EvictionCandidate& c, RunId at) const {
    return s_.alive(c.gap.run) && s_.alive(c.gap.to) && s_.alive(c.gap.from) &&
           s_.last_use_before(c.gap.run, c.gap.slot, s_.label(at) + 1) == c.gap.from &&
           s_.first_use_after(c.gap.run, c.gap.slot, s_.label(at)) == c.gap.to;
  }

  bool low_enough(RunId at) const { return s_.bytes_at(at) <= budget_ || s_.work() >= work_limit_; }

  // The instance is too small to reduce the peak.
  bool too_small(const EvictionCandidate& c, RunId at) const {
    return c.bytes < (s_.bytes_at(at) - budget_) / 1024;
  }

  // Tries candidates by falling rank. An estimate is expensive and can only lower a rank, so only
  // the top of the heap needs one (lazy greedy: Minoux 1978).
  bool try_best(RunId at) {
    bool any = false;
    while (!candidates_.empty() && !low_enough(at)) {
      std::pop_heap(candidates_.begin(), candidates_.end());
      EvictionCandidate& c = candidates_.back();
      if (too_small(c, at) || !is_still_idle(c, at)) {
        candidates_.pop_back();
      } else if (!c.estimated) {
        estimate(c, s_.label(at));
        std::push_heap(candidates_.begin(), candidates_.end());
      } else {
        tried_.push_back(c);
        candidates_.pop_back();
        any |= try_candidate(tried_.back(), at, true);
      }
    }
    return any;
  }

  // Retries the failed candidates with the lenient condition of try_drop.
  bool retry_leniently(RunId at) {
    bool any = false;
    for (const EvictionCandidate& c : tried_) {
      if (low_enough(at)) break;
      if (!too_small(c, at) && is_still_idle(c, at)) any |= try_candidate(c, at, false);
    }
    return any;
  }

  bool try_candidate(const EvictionCandidate& c, RunId at, bool strict) {
    return try_keep(c, at) || (is_last(c) && try_hoist(c, at)) || try_sink(c, at, 0) ||
           try_sink(c, at, 3) || try_drop(c, at, strict) || (!is_last(c) && try_hoist(c, at));
  }

  // The peak may lie among recomputations that only serve a later recomputation. Keeping the first
  // value of that one removes all of them.
  bool try_undo(RunId at) {
    const RematProblem& p = s_.problem();
    RunId run = at;
    for (int i = 0; i < 24 && run != kNoRun; ++i) {
      RunId reader = run;
      for (std::int32_t j = 0; j < p.storage_count(s_.computation(run)); ++j) {
        const RunId use = s_.last_use(run, j);
        if (s_.before(reader, use)) reader = use;
      }
      if (s_.previous_same(run) != kNoRun && undone_[s_.computation(run)] < 2 && undo(run, at))
        return true;
      run = reader == run ? kNoRun : reader;
    }
    return false;
  }

  bool undo(RunId run, RunId at) {
    const std::int64_t here = s_.bytes_at(at), peak = s_.peak();
    const std::size_t mark = s_.mark();
    const std::int32_t computation = s_.computation(run);
    if (editor_.remove(run) && (!s_.alive(at) || s_.bytes_at(at) < here) && s_.peak() <= peak) {
      ++undone_[computation];
      return true;
    }
    s_.roll_back(mark);
    return false;
  }

  bool is_last(const EvictionCandidate& c) const {
    return s_.last_use(c.gap.run, c.gap.slot) == c.gap.to;
  }

  double price(const EvictionCandidate& c) const {
    return parameters_.max_input_cost * static_cast<double>(c.cost + 1) /
           static_cast<double>(c.bytes);
  }

  // Hoists the reader after the gap to before it. Later readers get a recomputed instance.
  bool try_hoist(const EvictionCandidate& c, RunId at) {
    const std::int64_t here = s_.bytes_at(at), peak = s_.peak();
    const std::size_t mark = s_.mark();
    const RunId behind = s_.next(c.gap.to);
    const std::int64_t there =
        std::max(budget_, s_.tree().maximum(s_.label(at) + 1, s_.label(c.gap.to)));
    const RunId later = s_.first_use_after(c.gap.run, c.gap.slot, s_.label(c.gap.to));
    const bool alone = later == kNoRun || (!s_.problem().once(s_.computation(c.gap.run)) &&
                                           editor_.drop({c.gap.run, c.gap.slot, c.gap.to, later},
                                                        budget_, price(c), 60));
    // A new run may have reused the id of a removed one, at another position.
    const bool still_behind = s_.alive(at) && s_.alive(c.gap.to) && s_.before(at, c.gap.to);
    if (alone && still_behind && editor_.hoist(c.gap.to, at, 3) && s_.bytes_at(at) < here &&
        s_.peak() <= peak &&
        (behind == kNoRun || !s_.alive(behind) ||
         s_.tree().maximum(s_.label(at) + 1, s_.label(behind) - 1) <= there))
      return true;
    s_.roll_back(mark);
    return false;
  }

  // If the reader after the gap is itself a recomputation, keeping its first value may take fewer
  // bytes.
  bool try_keep(const EvictionCandidate& c, RunId at) {
    if (s_.previous_same(c.gap.to) == kNoRun) return false;
    const std::int64_t here = s_.bytes_at(at), peak = s_.peak();
    const std::size_t mark = s_.mark();
    if (editor_.remove(c.gap.to) && s_.alive(at) && s_.bytes_at(at) < here && s_.peak() <= peak)
      return true;
    s_.roll_back(mark);
    return false;
  }

  // Sinks an instance's producer to its first reader: no recomputation.
  bool try_sink(const EvictionCandidate& c, RunId at, int depth) {
    if (c.gap.from != c.gap.run) return false;
    const std::int64_t here = s_.bytes_at(at), peak = s_.peak();
    const std::size_t mark = s_.mark();
    const std::int64_t there =
        std::max(budget_, s_.tree().maximum(s_.label(at) + 1, s_.label(c.gap.to)));
    if (editor_.sink(c.gap.run, c.gap.to, depth) && s_.alive(at) && s_.bytes_at(at) < here &&
        s_.peak() <= peak && s_.tree().maximum(s_.label(at) + 1, s_.label(c.gap.to)) <= there)
      return true;
    s_.roll_back(mark);
    return false;
  }

  // Strict: no inserted run may exceed the budget, unless its position did before.
  bool try_drop(const EvictionCandidate& c, RunId at, bool strict) {
    const std::int64_t here = s_.bytes_at(at), peak = s_.peak();
    const std::size_t mark = s_.mark();
    const RunId before = s_.previous(c.gap.to);
    const std::int64_t there = std::max(budget_, s_.bytes_at(c.gap.to));
    if (editor_.drop(c.gap, budget_, price(c), strict ? 60 : 1000) && s_.alive(at) &&
        s_.bytes_at(at) < here && s_.peak() <= peak &&
        (!strict || !s_.alive(before) ||
         s_.tree().maximum(s_.label(before), s_.label(c.gap.to)) <= there))
      return true;
    s_.roll_back(mark);
    return false;
  }

  Sequence& s_;
  SequenceEditor editor_;
  std::int64_t budget_;
  GreedyParameters parameters_;
  std::int64_t work_limit_;
  std::vector<std::uint8_t> undone_;  // by computation: how often try_undo kept it
  std::vector<Gap> gaps_;
  std::vector<EvictionCandidate> candidates_;  // a heap
  std::vector<EvictionCandidate> tried_;
};

}  // namespace

bool reduce_peak(Sequence& sequence, std::int64_t budget, const GreedyParameters& parameters) {
  return PeakReducer(sequence, budget, parameters).run();
}

}  // namespace recut::peak

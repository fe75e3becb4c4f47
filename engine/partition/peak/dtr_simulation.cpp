#include "engine/partition/peak/dtr_simulation.h"

#include <algorithm>

#include "engine/partition/peak/portable_math.h"
#include "engine/partition/peak/two_pass_backward.h"

// The simulation keeps a stack of computations that wait for inputs, as DTR's runtime does:
//
//   run(c): for each input that isn't resident: run(its producer); pin it
//           while live bytes + outputs of c > budget: evict the unpinned storage of the best rank
//           emit c; unpin its inputs
//
// Invariant: live bytes stay within the budget after every emitted run. Where even eviction fails,
// an option moves earlier gradients behind the steps of high pressure and resumes from a snapshot.
// A scan of all alive storages finds a victim; cached ranks (lazy greedy: Minoux 1978) keep that
// affordable.

namespace recut::peak {
namespace {

class DtrSimulator {
 public:
  DtrSimulator(const RematProblem& p, std::int64_t budget, const DtrHeuristic& heuristic)
      : p_(p),
        budget_(budget),
        heuristic_(heuristic),
        order_(p.order),
        position_(p.size(), 0),
        uses_(p.storages()),
        next_use_(p.storages(), 0),
        pin_count_(p.storages(), 0),
        slot_(p.storages(), kAbsent),
        deferrable_(p.size(), false),
        ran_(p.size(), false),
        rank_(p.storages(), 0),
        ranked_(p.storages(), kNever),
        distance_power_(p.order.size() + 2) {
    for (std::size_t i = 0; i < distance_power_.size(); ++i)
      distance_power_[i] = quarter_power(static_cast<double>(i), heuristic.exponent_quarters);
    for (std::int32_t c = 0; heuristic.defer_results && c < p.size(); ++c)
      deferrable_[c] = makes_only_results(p, c);
    collect_uses();
  }

  bool run_all() {
    while (now_ < static_cast<std::int32_t>(order_.size())) {
      if (heuristic_.defer_results && now_ % kStepsBetweenSnapshots == 0)
        snapshots_.push_back({now_, alive_, sequence_.size()});
      if (run(order_[now_])) {
        ++now_;
      } else if (all_runs_ >= heuristic_.max_runs || !defer_results_further()) {
        return false;
      }
    }
    return true;
  }

  // In units of one change of a Sequence.
  std::int64_t work() const { return 2 * all_runs_ + looked_ / 100; }
  std::vector<std::int32_t> take() { return std::move(sequence_); }

 private:
  static constexpr std::int32_t kAbsent = -1, kHeld = -2;
  static constexpr std::int64_t kNever = std::int64_t{-1} << 40;
  static constexpr std::int32_t kStepsBetweenSnapshots = 16;

  // Deferring results: the share of the budget to free at once, the share below which a result is
  // too small, and the steps of low pressure that end a run of high-pressure steps.
  static constexpr std::int64_t kShareDeferred = 40, kShareThatMatters = 1000;
  static constexpr std::int32_t kQuietSteps = 24;

  // A computation that waits for its inputs; those before `next` are resident and pinned.
  struct Frame {
    std::int32_t computation;
    std::size_t next = 0;
    std::vector<std::int32_t> inputs;  // storages, the earliest producer first
  };

  // The state before a step of the order: enough to resume the simulation from there.
  struct Snapshot {
    std::int32_t now;
    std::vector<std::int32_t> alive;
    std::size_t runs;
  };

  // Records the uses of every storage in the current order.
  void collect_uses() {
    for (std::size_t i = 0; i < order_.size(); ++i)
      position_[order_[i]] = static_cast<std::int32_t>(i);
    for (std::int32_t s = 0; s < p_.storages(); ++s) {
      next_use_[s] = 0;
      uses_[s].clear();
      for (const std::int32_t reader : p_.readers(s)) uses_[s].push_back(position_[reader]);
      std::sort(uses_[s].begin(), uses_[s].end());
    }
  }

  // If memory doesn't suffice for this step, moves the latest results before it to after the run of
  // high-pressure steps, and resumes before them. False if there are none.
  bool defer_results_further() {
    if (!heuristic_.defer_results || order_[now_] == p_.end()) return false;
    std::vector<std::int32_t> late;
    std::int32_t first = now_;
    for (std::int64_t bytes = 0; first > 0 && bytes <= budget_ / kShareDeferred;) {
      const std::int32_t c = order_[--first];
      if (!deferrable_[c]) continue;
      const std::int64_t held = bytes_held(c);
      if (held * kShareThatMatters < budget_) continue;
      bytes += held;
      late.push_back(c);
    }
    if (late.empty()) return false;
    const std::int32_t after = order_[end_of_high_pressure()];
    const auto is_late = [&](std::int32_t c) {
      return std::find(late.begin(), late.end(), c) != late.end();
    };
    order_.erase(std::remove_if(order_.begin(), order_.end(), is_late), order_.end());
    const auto insert_at = std::find(order_.begin(), order_.end(), after) + 1;
    order_.insert(insert_at, late.rbegin(), late.rend());
    restore_before(first);
    return true;
  }

  std::int64_t bytes_held(std::int32_t c) const {
    std::int64_t bytes = 0;
    for (std::int32_t j = 0; j < p_.storage_count(c); ++j)
      if (slot_[p_.first_storage(c) + j] != kAbsent) bytes += p_.bytes(p_.first_storage(c) + j);
    return bytes;
  }

  // The last step from here on that is followed by kQuietSteps steps of at most half this one's
  // bytes.
  std::int32_t end_of_high_pressure() const {
    const std::int64_t half = p_.step_bytes(order_[now_]) / 2;
    const auto last = static_cast<std::int32_t>(order_.size()) - 2;
    std::int32_t quiet = 0, at = now_ + 1;
    for (; at <= last && quiet < kQuietSteps; ++at)
      quiet = p_.step_bytes(order_[at]) > half ? 0 : quiet + 1;
    // This step itself may be the last one, where a problem has no end.
    return std::max(now_, std::min(last, at - 1 - quiet));
  }

  // Resumes from the last snapshot at or before step `limit`.
  void restore_before(std::int32_t limit) {
    while (snapshots_.back().now > limit) snapshots_.pop_back();
    const Snapshot snapshot = std::move(snapshots_.back());
    snapshots_.pop_back();
    now_ = snapshot.now;
    sequence_.resize(snapshot.runs);
    std::fill(pin_count_.begin(), pin_count_.end(), 0);
    std::fill(slot_.begin(), slot_.end(), kAbsent);
    std::fill(ran_.begin(), ran_.end(), false);
    alive_.clear();
    live_ = 0;
    for (const std::int32_t s : snapshot.alive) hold(s);
    for (const std::int32_t c : sequence_) {
      ran_[c] = true;
      for (std::int32_t s = p_.first_storage(c); s < p_.first_storage(c) + p_.storage_count(c); ++s)
        if (slot_[s] == kAbsent && (p_.bytes(s) == 0 || deferrable_[c])) hold(s);
    }
    collect_uses();
  }

  bool resident(std::int32_t s) const {
    return slot_[s] != kAbsent || (p_.once(p_.producer(s)) && ran_[p_.producer(s)]);
  }

  Frame frame_of(std::int32_t c) const {
    Frame frame{c, 0, {}};
    for (const RematProblem::Read& read : p_.reads(c)) frame.inputs.push_back(read.storage);
    std::sort(frame.inputs.begin(), frame.inputs.end(), [&](std::int32_t a, std::int32_t b) {
      const std::int32_t at_a = position_[p_.producer(a)], at_b = position_[p_.producer(b)];
      if (p_.boundary() >= 0 && heuristic_.backward_inputs_first) {
        const std::int32_t boundary = position_[p_.boundary()];
        if ((at_a > boundary) != (at_b > boundary)) return at_a > boundary;
      }
      return at_a != at_b ? at_a < at_b : a < b;
    });
    return frame;
  }

  bool run(std::int32_t goal) {
    stack_.clear();
    stack_.push_back(frame_of(goal));
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      while (frame.next < frame.inputs.size() && resident(frame.inputs[frame.next]))
        ++pin_count_[frame.inputs[frame.next++]];
      if (frame.next < frame.inputs.size()) {
        stack_.push_back(frame_of(p_.producer(frame.inputs[frame.next])));
        continue;
      }
      if (!execute(frame.computation)) return false;
      for (const std::int32_t s : frame.inputs) --pin_count_[s];
      stack_.pop_back();
    }
    return true;
  }

  bool execute(std::int32_t c) {
    if (++all_runs_ > heuristic_.max_runs) return false;
    const std::int32_t first = p_.first_storage(c), end = first + p_.storage_count(c);
    std::int64_t bytes = 0;
    for (std::int32_t s = first; s < end; ++s) {
      ++pin_count_[s];
      if (slot_[s] == kAbsent) bytes += p_.bytes(s);
    }
    if (!make_room(bytes)) return false;
    sequence_.push_back(c);
    ran_[c] = true;
    for (std::int32_t s = first; s < end; ++s) {
      --pin_count_[s];
      if (slot_[s] == kAbsent) hold(s);
    }
    return true;
  }

  // A storage without bytes, or one that only the end reads, is never evicted.
  void hold(std::int32_t s) {
    live_ += p_.bytes(s);
    ranked_[s] = kNever;
    slot_[s] = kHeld;
    if (p_.bytes(s) == 0 || deferrable_[p_.producer(s)]) return;
    slot_[s] = static_cast<std::int32_t>(alive_.size());
    alive_.push_back(s);
  }

  bool make_room(std::int64_t bytes) {
    while (live_ + bytes > budget_) {
      std::int32_t best = eviction_victim();
      if (best < 0) return false;
      // Ranks mostly fall as other storages go, so the best one's rank is refreshed before use.
      while (ranked_[best] != evicted_) {
        rank(best);
        best = eviction_victim();
      }
      evict(best);
    }
    return true;
  }

  // The eviction victim, by ranks that may be a few evictions old; -1 if all storages are pinned.
  std::int32_t eviction_victim() {
    std::int32_t best = -1;
    looked_ += static_cast<std::int64_t>(alive_.size());
    for (const std::int32_t s : alive_) {
      if (pin_count_[s] > 0) continue;
      if (ranked_[s] + heuristic_.rank_lifetime < evicted_) rank(s);
      if (best < 0 || rank_[s] > rank_[best] || (rank_[s] == rank_[best] && s < best)) best = s;
    }
    return best;
  }

  void rank(std::int32_t s) {
    rank_[s] = rank_of(s);
    ranked_[s] = evicted_;
  }

  void evict(std::int32_t s) {
    const std::int32_t last = alive_.back();
    alive_[slot_[s]] = last;
    slot_[last] = slot_[s];
    slot_[s] = kAbsent;
    alive_.pop_back();
    live_ -= p_.bytes(s);
    ++evicted_;
  }

  double rank_of(std::int32_t s) {
    const std::int32_t c = p_.producer(s);
    auto& next = next_use_[s];
    while (next < uses_[s].size() && uses_[s][next] < now_) ++next;
    const auto bytes = static_cast<double>(p_.bytes(s));
    if (next == uses_[s].size()) return 1e30 * bytes;
    if (p_.once(c)) return -1e30 / bytes;  // it can't be recomputed: only if nothing else can go
    int look = 24;
    return bytes * distance_power_[uses_[s][next] - now_ + 1] / (cost_of(c, look) + 1);
  }

  // The cost of recomputing it with its missing inputs (DTR: the evicted neighbourhood).
  double cost_of(std::int32_t c, int& look) const {
    auto cost = static_cast<double>(p_.duration(c));
    for (const RematProblem::Read& read : p_.reads(c)) {
      if (resident(read.storage)) continue;
      if (--look <= 0) break;
      cost += cost_of(read.producer, look);
    }
    return cost;
  }

  const RematProblem& p_;
  std::int64_t budget_;
  DtrHeuristic heuristic_;
  std::vector<std::int32_t> order_;              // the problem's, except for deferred results
  std::vector<std::int32_t> position_;           // by computation, in order_
  std::vector<std::vector<std::int32_t>> uses_;  // by storage: the positions of its readers
  std::vector<std::size_t> next_use_;            // by storage: the first use to come, in uses_
  std::vector<std::int32_t> pin_count_, slot_;   // by storage: pin count; index in alive_
  std::vector<bool> deferrable_;                 // by computation: it makes only results
  std::vector<bool> ran_;
  std::vector<double> rank_;  // by storage; ranked_: at which eviction
  std::vector<std::int64_t> ranked_;
  std::int64_t evicted_ = 0;
  std::vector<double> distance_power_;  // by distance
  std::vector<std::int32_t> alive_;
  std::vector<Frame> stack_;
  std::vector<std::int32_t> sequence_;
  std::vector<Snapshot> snapshots_;
  std::int64_t live_ = 0, all_runs_ = 0, looked_ = 0;
  std::int32_t now_ = 0;
};

}  // namespace

std::vector<DtrHeuristic> dtr_heuristics(const RematProblem& problem) {
  const std::int64_t runs = 4 * static_cast<std::int64_t>(problem.size()) + 1000;
  return {{2, true, false, 16, runs}, {1, true, false, 4, runs}, {1, true, true, 16, runs},
          {2, false, false, 4, runs}, {2, true, true, 16, runs}, {4, true, false, 16, runs},
          {0, true, false, 4, runs},  {1, true, true, 4, runs},  {2, true, false, 4, runs},
          {1, true, false, 16, runs}, {4, true, false, 4, runs}, {1, false, false, 4, runs}};
}

std::vector<std::int32_t> simulate_dtr(const RematProblem& problem, std::int64_t budget,
                                       const DtrHeuristic& heuristic, std::int64_t* work) {
  DtrSimulator simulator(problem, budget, heuristic);
  const bool ran = simulator.run_all();
  if (work != nullptr) *work += simulator.work();
  return ran ? simulator.take() : std::vector<std::int32_t>();
}

}  // namespace recut::peak

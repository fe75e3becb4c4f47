// A sequence of runs with the bytes alive at every step in one array. A change is priced before it
// is made: its effect on the bytes above the budget is a scan over the steps that it touches, and
// blocks that stay below the budget are skipped. Simulated annealing rejects most tries and then
// pays for pricing alone.
//
// Sequence is the alternative: there every change costs O(log n) and maintains the peak. Here
// moving a run costs the distance, inserting or removing one O(n) with a small constant, and the
// *excess* is maintained: the bytes above the budget, summed over the steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/partition/peak/sequence.h"
#include "engine/partition/problem/remat_problem.h"

namespace recut::peak {

class Timeline {
 public:
  // The difference that a change makes to the totals.
  struct Change {
    std::int64_t duration = 0;
    std::int64_t excess = 0;  // bytes times steps, in units of excess_unit() bytes
  };
  struct Range {
    std::int32_t low, high;
  };

  // `problem` must outlive this.
  Timeline(const RematProblem& problem, std::int64_t budget);

  void assign(std::span<const std::int32_t> computations);
  std::vector<std::int32_t> computations() const;

  std::int64_t excess() const { return excess_; }
  // A power of two: 1, unless bytes times steps could overflow.
  std::int64_t excess_unit() const { return std::int64_t{1} << unit_bits_; }
  std::int64_t duration() const { return duration_; }
  std::int64_t peak() const;
  std::int32_t steps() const { return static_cast<std::int32_t>(order_.size()); }
  RunId run(std::int32_t step) const { return order_[step]; }
  std::int64_t bytes(std::int32_t step) const { return bytes_[step]; }
  std::int32_t step(RunId run) const { return runs_[run].step; }
  std::int32_t computation(RunId run) const { return runs_[run].computation; }

  // The recomputations, in no particular order.
  const std::vector<RunId>& repeats() const { return repeats_; }

  // The steps to which a run may move without changing which instance any run reads.
  Range move_range(RunId run) const;

  // Three kinds of change. Each is priced; apply() makes the last priced one.
  //
  // Moves a run to another step of its move_range().
  Change price_move(RunId run, std::int32_t to);
  // Inserts a run of `computation` at step `at`, for all readers from there on. An earlier run must
  // exist and have a reader before.
  Change price_insertion(std::int32_t computation, std::int32_t at);
  // The same with all inputs alive there anyway: a bound on the gain. Not to be applied.
  Change price_insertion_alone(std::int32_t computation, std::int32_t at);
  // Removes a recomputation, or an unread run that isn't its computation's only one.
  Change price_removal(RunId run);

  void apply();

  // The first step whose bytes the priced change would change.
  std::int32_t first_step_priced() const;

  // The same functions as in Sequence, by step.
  RunId latest_before(std::int32_t c, std::int32_t step) const {
    RunId run = last_run_[c];
    while (run != kNoRun && runs_[run].step >= step) run = runs_[run].previous_same;
    return run;
  }
  RunId last_use(RunId run, std::int32_t slot) const { return last_use_[runs_[run].uses + slot]; }
  RunId last_use_before(RunId run, std::int32_t slot, std::int32_t step) const;
  bool unused(RunId run) const;  // none of its instances has a reader
  // It is its computation's only run.
  bool alone(RunId run) const {
    return runs_[run].previous_same == kNoRun && runs_[run].next_same == kNoRun;
  }
  RunId first_use_after(RunId run, std::int32_t slot, std::int32_t step) const;

 private:
  struct Run {
    std::int32_t computation;
    std::int32_t step;  // -1: removed
    RunId previous_same, next_same;
    std::int32_t uses;    // index in last_use_ of its first storage's
    std::int32_t repeat;  // its index in repeats_; -1: none
  };
  static constexpr std::int32_t kBlock = 16;

  // Bytes added to all steps from `start` to Pending::end.
  struct Piece {
    std::int32_t start;
    std::int64_t bytes;
  };
  struct LastUse {
    RunId run;
    std::int32_t slot;
    RunId last;  // kNoRun: the inserted run
  };
  // The change that was priced last, in step numbers before the change.
  struct Pending {
    enum Kind : std::uint8_t { kMove, kInsertion, kRemoval } kind = kMove;
    RunId run = kNoRun;  // of an insertion: the run that it takes readers from
    std::int32_t at = 0, to = 0;
    std::int32_t end = 0;         // of all pieces
    std::int64_t step_bytes = 0;  // bytes alive in the new step
    Change change;
  };

  // In excess units, rounded up: 0 exactly at or below the budget.
  std::int64_t over(std::int64_t bytes) const {
    return bytes > budget_ ? ((bytes - budget_ - 1) >> unit_bits_) + 1 : 0;
  }
  std::int64_t flow_before(std::int32_t step) const;
  RunId new_run(std::int32_t computation);
  void measure();

  void begin(Pending::Kind kind, RunId run, std::int32_t at, std::int32_t to);
  Change price(std::int64_t duration, std::int64_t excess_of_step);
  std::int64_t excess_of_pieces();
  std::int64_t scan(std::int32_t first, std::int32_t last, std::int64_t bytes) const;
  void collect_later();
  void collect_earlier();
  void collect_insertion(std::int32_t computation, std::int32_t at);

  void apply_pieces();
  void apply_move();
  void apply_insertion();
  void apply_removal();
  void settle(std::int32_t first, std::int32_t last);
  void note_repeat(RunId run);
  void forget_repeat(RunId run);

  const RematProblem& p_;
  std::int64_t budget_;
  int unit_bits_ = 0;
  std::vector<std::int64_t> output_bytes_;  // by computation: bytes of its storages
  std::vector<Run> runs_;
  std::vector<RunId> order_;              // by step
  std::vector<std::int64_t> bytes_;       // by step
  std::vector<std::int64_t> block_max_;   // by block of steps: the maximum
  std::vector<std::int64_t> block_over_;  // and the excess
  std::vector<RunId> last_use_;
  std::vector<RunId> last_run_, free_run_;  // by computation
  std::vector<RunId> repeats_;
  std::int64_t excess_ = 0, duration_ = 0;
  Pending pending_;
  std::vector<Piece> pieces_;
  std::vector<LastUse> last_uses_;
};

}  // namespace recut::peak

// A sequence of runs with the bytes alive at every step in one array, so that a change is priced
// before it is made: what it would do to the bytes above the budget is a scan over the steps that
// it touches, by blocks where all of a block has room. Annealing refuses much of what it tries and
// then pays for the asking alone.
//
// Beside Sequence: there any change costs O(log n) and the peak is known throughout; here moving a
// run costs what it is moved by, inserting or removing one O(n) with a small constant, and the
// *excess* is known: the bytes above the budget, summed over the steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/partition/peak/sequence.h"
#include "engine/partition/problem/problem.h"

namespace recut::peak {

class Timeline {
 public:
  // What a change adds.
  struct Change {
    std::int64_t duration = 0;
    std::int64_t excess = 0;  // bytes times steps, in excess_unit() bytes
  };
  struct Range {
    std::int32_t low, high;
  };

  // `problem` must outlive this.
  Timeline(const Problem& problem, std::int64_t budget);

  void assign(std::span<const std::int32_t> computations);
  std::vector<std::int32_t> computations() const;

  std::int64_t excess() const { return excess_; }
  // 1, unless bytes times steps could overflow.
  std::int64_t excess_unit() const { return std::int64_t{1} << unit_bits_; }
  std::int64_t duration() const { return duration_; }
  std::int64_t peak() const;
  std::int32_t steps() const { return static_cast<std::int32_t>(order_.size()); }
  RunId run(std::int32_t step) const { return order_[step]; }
  std::int64_t bytes(std::int32_t step) const { return bytes_[step]; }
  std::int32_t step(RunId run) const { return runs_[run].step; }
  std::int32_t computation(RunId run) const { return runs_[run].computation; }

  // Runs that repeat an earlier one, in an order that tells nothing.
  const std::vector<RunId>& repeats() const { return repeats_; }

  // The steps to which a run may move so that every run reads the instances that it reads now.
  Range room(RunId run) const;

  // Three changes. Each is priced, and made() by the next call or else forgotten.
  //
  // Moves a run to another step of its room.
  Change price_move(RunId run, std::int32_t to);
  // Runs `computation` once more at step `at`, for all readers from there on; what stands there
  // comes later. An earlier run must stand and have a reader before.
  Change price_insertion(std::int32_t computation, std::int32_t at);
  // The same, as if its inputs were alive there anyway: what it could win at best. Not to be made.
  Change price_insertion_alone(std::int32_t computation, std::int32_t at);
  // Removes a repeat, or a run that has no readers and isn't alone.
  Change price_removal(RunId run);

  void make();

  // The first step whose bytes the priced change would change.
  std::int32_t first_step_priced() const;

  // As in Sequence, by step.
  RunId latest_before(std::int32_t c, std::int32_t step) const {
    RunId run = last_run_[c];
    while (run != kNoRun && runs_[run].step >= step) run = runs_[run].previous_same;
    return run;
  }
  RunId last_use(RunId run, std::int32_t slot) const { return last_use_[runs_[run].uses + slot]; }
  RunId last_use_before(RunId run, std::int32_t slot, std::int32_t step) const;
  bool unused(RunId run) const;  // no instance of it has a reader
  // Its computation runs nowhere else.
  bool alone(RunId run) const {
    return runs_[run].previous_same == kNoRun && runs_[run].next_same == kNoRun;
  }
  RunId first_use_after(RunId run, std::int32_t slot, std::int32_t step) const;

 private:
  struct Run {
    std::int32_t computation;
    std::int32_t step;  // -1: removed
    RunId previous_same, next_same;
    std::int32_t uses;    // where its storages' last uses start in last_use_
    std::int32_t repeat;  // its place in repeats_; -1: none
  };
  static constexpr std::int32_t kBlock = 16;

  // Bytes added to all steps from `start` to the end that the pieces of a change share.
  struct Piece {
    std::int32_t start;
    std::int64_t bytes;
  };
  struct LastUse {
    RunId run;
    std::int32_t slot;
    RunId last;  // kNoRun: the run that the change is about
  };
  // The change that was priced last; its steps are those before the change.
  struct Pending {
    enum Kind : std::uint8_t { kMove, kInsertion, kRemoval } kind = kMove;
    RunId run = kNoRun;  // of an insertion: the run whose readers it takes over
    std::int32_t at = 0, to = 0;
    std::int32_t end = 0;    // of all pieces
    std::int64_t there = 0;  // bytes alive in the step that comes in
    Change change;
  };

  // In excess units, rounded up: 0 only where nothing is above the budget.
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
  void make_move();
  void make_insertion();
  void make_removal();
  void settle(std::int32_t first, std::int32_t last);
  void note_repeat(RunId run);
  void forget_repeat(RunId run);

  const Problem& p_;
  std::int64_t budget_;
  int unit_bits_ = 0;
  std::vector<std::int64_t> made_;  // by computation: bytes of its storages
  std::vector<Run> runs_;
  std::vector<RunId> order_;              // by step
  std::vector<std::int64_t> bytes_;       // by step
  std::vector<std::int64_t> block_most_;  // by block of steps: the most bytes
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

// The compound moves of the searches on one Sequence: recompute a computation with the inputs that
// it needs, hoist or sink a run, remove a run with everything that only it needed. Each keeps the
// sequence valid; the caller rolls back moves that don't pay. Cost: O(log n) for each run touched.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/peak/sequence.h"

namespace recut::peak {

// An idle instance: alive, but unread between two of its uses.
struct Gap {
  RunId run;
  std::int32_t slot;
  RunId from;  // the use (or the run itself) before the gap
  RunId to;    // the use after it
};

class SequenceEditor {
 public:
  explicit SequenceEditor(Sequence& sequence) : s_(sequence), p_(sequence.problem()) {}

  // Runs `computation` again right before `user`, and recursively every input that can't stay alive
  // until there within `limit`, the earliest producer first: ending long lives may let short ones
  // stay. An input that would cost more than `price` per byte stays alive anyway, since recomputing
  // much for a few bytes reduces no peak. False if a computation may run only once or the work
  // exceeds `allowance` runs; the caller then rolls the changes back.
  bool recompute(std::int32_t computation, RunId user, std::int64_t limit, double price,
                 int allowance);

  // Estimates the duration that recompute() would add. Stops above `bound`, or after `allowance`
  // computations. `over` is a label known to be above the limit, or 0: no input stays alive across
  // it, and that saves a query.
  std::int64_t estimate(std::int32_t computation, std::uint32_t at, std::int64_t limit,
                        std::int64_t bound, int& allowance, std::uint32_t over = 0) const;

  // Ends a gap's instance at the gap's start and recomputes it at the gap's end.
  bool drop(const Gap& gap, std::int64_t limit, double price, int allowance);

  // Hoists `run`, and producers that stand in between, to right before `at`. False if that takes
  // more than `depth` levels of inputs; the caller then rolls the changes back.
  bool hoist(RunId run, RunId at, int depth);

  // Sinks `run`, and producers without earlier readers, to right before `user`, its first reader;
  // `depth` levels of inputs at most. False if a reader or a run of the same computation stands in
  // between.
  bool sink(RunId run, RunId user, int depth);

  // Removes a run and every run that thereby loses all its uses. False if it isn't removable().
  bool remove(RunId run);

  // Removes `run` and its ancestors while they are unused and not their computation's only run.
  void remove_dead_runs(RunId run);

  // The run may be removed: its readers, if any, have an earlier run to read from.
  bool removable(RunId run) const {
    return s_.previous_same(run) != kNoRun || (s_.next_same(run) != kNoRun && s_.unused(run));
  }

 private:
  bool recompute_inputs(RunId run, std::int64_t limit, int depth);

  Sequence& s_;
  const RematProblem& p_;
  int allowance_ = 0;
  double price_ = 0;
};

}  // namespace recut::peak

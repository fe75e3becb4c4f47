// The compound moves of the search, on one Sequence: run a computation again (and what it needs),
// take a run away (and what only it needed).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/peak/sequence.h"

namespace recut::peak {

// An instance that is alive but idle: nobody reads it between two of its uses.
struct Gap {
  RunId run;
  std::int32_t slot;
  RunId from;  // the use (or the run itself) before the gap
  RunId to;    // the use after it
};

class Editor {
 public:
  explicit Editor(Sequence& sequence) : s_(sequence), p_(sequence.problem()) {}

  // Runs `computation` again right before `user`, and recursively whatever input can't be kept
  // alive until there within `limit`, the earliest producer first: the long lives go before the
  // short ones are asked to. An input that would cost more than `price` per byte is kept alive all
  // the same: repeating a large computation for a few bytes relieves nothing. False, with changes
  // left for the caller to roll back, where something runs only once or the work exceeds
  // `allowance` runs.
  bool recompute(std::int32_t computation, RunId user, std::int64_t limit, double price,
                 int allowance);

  // What recompute() would add to the duration, roughly; nothing changes. Stops above `bound`, or
  // when it has looked at `allowance` computations. `over` is a label known to be above the limit,
  // or 0: nothing is kept alive across it, and that needs no query.
  std::int64_t estimate(std::int32_t computation, std::uint32_t at, std::int64_t limit,
                        std::int64_t bound, int& allowance, std::uint32_t over = 0) const;

  // Ends the instance of a gap at the gap's start and makes it anew at its end.
  bool drop(const Gap& gap, std::int64_t limit, double price, int allowance);

  // Moves `run`, and whatever it needs that stands in between, to right before `at`. False, with
  // changes left to roll back, where that can't be done within `depth` levels of inputs.
  bool pull(RunId run, RunId at, int depth);

  // Moves `run`, and producers that nobody else reads before, to right before `user`, its first
  // reader; down to `depth` levels of inputs. False where it has readers or twins in between.
  bool push(RunId run, RunId user, int depth);

  // Removes a run that can go (its computation runs elsewhere too, and if it is read, before), and
  // every run that thereby loses all its uses. False where it can't.
  bool remove(RunId run);

  // Removes `run` and its ancestors as long as they are unused and run elsewhere too.
  void sweep(RunId run);

  // Whether the run may be removed: its readers have an earlier run to read from.
  bool removable(RunId run) const {
    return s_.previous_same(run) != kNoRun || (s_.next_same(run) != kNoRun && s_.unused(run));
  }

 private:
  bool recompute_inputs(RunId run, std::int64_t limit, int depth);

  Sequence& s_;
  const Problem& p_;
  int allowance_ = 0;
  double price_ = 0;
};

}  // namespace recut::peak

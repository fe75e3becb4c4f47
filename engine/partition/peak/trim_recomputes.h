// Trimming: removes recomputations that the budget doesn't need, the most expensive first. It
// undoes the excess of the greedy search, which adds recomputations and never removes them.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/peak/sequence_editor.h"

namespace recut::peak {

// Remembers for each run which step blocked its removal, so that a plan with few changes isn't
// tried everywhere again. It serves one sequence until that is assigned again. Cost of a pass:
// O(repeated runs), and O(log n) for each removal that may fit.
class Trimmer {
 public:
  Trimmer(Sequence& sequence, std::int64_t budget)
      : s_(sequence), editor_(sequence), budget_(budget) {}

  // Removes runs until no single removal fits.
  void trim();

 private:
  // Blocks a removal while more than `limit` bytes are alive at run `at`, a step that the
  // lengthened lifetimes would cross.
  struct Obstacle {
    RunId at = kNoRun;
    std::int64_t limit = 0;
  };

  bool blocked(RunId run) const;
  bool may_fit(RunId run);
  bool remove(RunId run);
  void remember(RunId run, std::uint32_t from, std::uint32_t to, std::int64_t height,
                std::int64_t limit);
  void remember_failure(RunId run);

  Sequence& s_;
  SequenceEditor editor_;
  std::int64_t budget_;
  std::vector<RunId> runs_;
  std::vector<Obstacle> obstacles_;  // by run
};

// One trimming, without a memory.
inline void trim(Sequence& sequence, std::int64_t budget) { Trimmer(sequence, budget).trim(); }

}  // namespace recut::peak

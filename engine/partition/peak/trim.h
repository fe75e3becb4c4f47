// The way back from a plan that repeats too much: runs are taken away, the dearest first, as long
// as the peak stays within the budget.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/peak/editor.h"

namespace recut::peak {

// Remembers of each run what stood in the way of its removal, so that a plan which is changed in a
// few places isn't tried everywhere again. For one sequence as long as it isn't assigned anew.
class Trimmer {
 public:
  Trimmer(Sequence& sequence, std::int64_t budget)
      : s_(sequence), editor_(sequence), budget_(budget) {}

  // Until no single removal fits.
  void trim();

 private:
  // A removal is out of the question while more than `limit` bytes are alive at run `at`, which
  // lies where the removal would make lives longer.
  struct Obstacle {
    RunId at = kNoRun;
    std::int64_t limit = 0;
  };

  bool hopeless(RunId run) const;
  bool may_fit(RunId run);
  bool remove(RunId run);
  void remember(RunId run, std::uint32_t from, std::uint32_t to, std::int64_t height,
                std::int64_t limit);
  void remember_failure(RunId run);

  Sequence& s_;
  Editor editor_;
  std::int64_t budget_;
  std::vector<RunId> runs_;
  std::vector<Obstacle> obstacles_;  // by run
};

// Once, with nothing remembered.
inline void trim(Sequence& sequence, std::int64_t budget) { Trimmer(sequence, budget).trim(); }

}  // namespace recut::peak

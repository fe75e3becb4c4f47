// Improvement of a plan that holds: large-neighbourhood search (Shaw 1998; ruin and recreate,
// Schrimpf et al. 2000) on the sequence itself.
#pragma once

#include <cstdint>

#include "engine/partition/peak/greedy.h"
#include "engine/partition/peak/trim.h"

namespace recut::peak {

class Improver {
 public:
  Improver(Sequence& sequence, std::int64_t budget, std::uint64_t seed)
      : s_(sequence),
        editor_(sequence),
        trimmer_(sequence, budget),
        budget_(budget),
        random_(seed),
        forward_(count_forward(sequence.problem())) {}

  // One try; true where the plan got cheaper. The peak stays within the budget.
  bool step();

  // One try to lower the peak of a plan above the budget; true where it got lower.
  bool descend();

 private:
  // Computations before the border in the problem's order; 0 without a border.
  static std::int32_t count_forward(const Problem& problem);
  bool shift_some();
  bool reorder_at(RunId run);
  bool ruin_some();
  bool drop_some();
  bool resegment_some();
  bool mend();
  std::uint64_t draw(std::uint64_t below);
  RunId random_run();
  RunId random_repeat();

  Sequence& s_;
  Editor editor_;
  Trimmer trimmer_;
  std::int64_t budget_;
  std::uint64_t random_;
  std::int32_t forward_;
};

}  // namespace recut::peak

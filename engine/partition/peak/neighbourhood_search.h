// Large neighbourhood search (Shaw 1998; ruin and recreate, Schrimpf et al. 2000) on a sequence
// within the budget: ruin a part of it, repair it by greedy rematerialisation, trim, and keep the
// result if it is shorter. The neighbourhood is chosen adaptively (Ropke and Pisinger 2006).
#pragma once

#include <cstdint>

#include "engine/partition/peak/greedy_remat.h"
#include "engine/partition/peak/trim_recomputes.h"

namespace recut::peak {

class NeighbourhoodSearch {
 public:
  NeighbourhoodSearch(Sequence& sequence, std::int64_t budget, std::uint64_t seed)
      : s_(sequence),
        editor_(sequence),
        trimmer_(sequence, budget),
        budget_(budget),
        random_(seed),
        forward_(count_forward(sequence.problem())) {}

  // One try; true if the plan got shorter. The peak stays within the budget.
  bool step();

  // One try to lower the peak of a plan above the budget; true if it got lower.
  bool descend();

 private:
  enum Kind : std::uint8_t { kRuin, kDrop, kShift, kReorder, kResegment, kKinds };
  // The recent yield of one kind of move.
  struct Record {
    std::int64_t gain, work, tries;
  };

  Kind choose();
  bool change(Kind kind);
  void remember(Kind kind, std::int64_t gain, std::int64_t work);
  // Computations before the boundary in the problem's order; 0 without a boundary.
  static std::int32_t count_forward(const RematProblem& problem);
  bool shift_some();
  bool reorder_at(RunId run);
  bool ruin_some();
  bool drop_some();
  bool resegment_some();
  bool repair();
  std::uint64_t random_below(std::uint64_t below);
  RunId random_run();
  RunId random_repeat();

  Sequence& s_;
  SequenceEditor editor_;
  Trimmer trimmer_;
  std::int64_t budget_;
  std::uint64_t random_;
  std::int32_t forward_;
  std::int64_t max_duration_ = 0;  // a try that gets longer is given up
  // Initial values, typical of most graphs.
  Record records_[kKinds] = {
      {1000, 3000, 15}, {50, 500, 6}, {10, 20, 3}, {40, 450, 3}, {50, 900, 3}};
  int remembered_ = 0;
};

}  // namespace recut::peak

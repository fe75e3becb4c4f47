#include "engine/partition/peak/resegment.h"

#include <vector>

#include "engine/partition/peak/checkpoint_segments.h"
#include "engine/partition/peak/sequence_editor.h"
#include "engine/partition/peak/solve_outcome.h"

namespace recut::peak {
namespace {

constexpr int kRunsOfOneDrop = 200;

// Removes the later runs of a computation as far as possible.
void keep(Sequence& s, SequenceEditor& editor, RunId run) {
  while (s.next_same(run) != kNoRun && editor.remove(s.next_same(run))) {
  }
}

// Ends the instance before the boundary. Its inputs cross it for now, whatever the budget: the
// caller goes backwards through forward and handles them next.
bool let_go(Sequence& s, SequenceEditor& editor, RunId run, std::int32_t slot,
            std::uint32_t boundary) {
  const RematProblem& p = s.problem();
  if (p.bytes(p.first_storage(s.computation(run)) + slot) == 0) return true;
  const RunId to = s.first_use_after(run, slot, boundary);
  if (to == kNoRun) return true;
  const RunId from = s.last_use_before(run, slot, boundary);
  return editor.drop({run, slot, from, to}, kNoBudget / 2, 1e30, kRunsOfOneDrop);
}

}  // namespace

bool resegment(Sequence& s, int segments, std::int32_t begin, std::int32_t end,
               std::int64_t allowance) {
  const RematProblem& p = s.problem();
  const std::vector<bool> saved = checkpoints(p, segments);
  const std::int64_t until = s.work() + allowance;
  SequenceEditor editor(s);
  for (std::int32_t i = end; i-- > begin;) {
    const std::int32_t c = p.order[i];
    if (p.once(c)) continue;
    for (std::int32_t j = 0; j < p.storage_count(c); ++j) {
      if (s.work() > until) return false;
      const std::uint32_t boundary = s.label(s.first_run(p.boundary()));
      const RunId run = s.latest_before(c, boundary);
      if (run == kNoRun) continue;
      if (saved[p.first_storage(c) + j]) {
        keep(s, editor, run);
      } else if (!let_go(s, editor, run, j, boundary)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace recut::peak

// Plans a document's graph and schedules the plan, so that the budget bounds the arena.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/fusion/kernel_model.h"
#include "engine/schedule/make_schedule.h"
#include "engine/schedule/schedule.h"
#include "engine/workspace/planning.h"

namespace recut {

struct SchedulingRequest {
  PlanningRequest planning;
  ScheduleOptions options;
};

// One plan that was tried, and what its arena came to.
struct SchedulingRound {
  Fusion fusion = Fusion::none;
  // Of the peak; 0: none was named. From the second round on with the sizes that buffers take up.
  std::int64_t target_bytes = 0;
  std::int64_t peak_bytes = 0;  // of the plan, with the sizes of values
  std::int64_t arena_bytes = 0;
  std::int64_t gap_bytes = 0;  // of it, beyond the most that is alive at once
};

struct ScheduledPlan {
  Planned planned;
  SharedKernels kernels;  // that the plan is of, as the schedule has them
  Schedule schedule;
  std::vector<SchedulingRound> rounds;  // in the order of trying, the first for the budget itself
  double schedule_ms = 0;               // scheduling alone, of all rounds

  // Bytes of the arena beyond the budget; 0 where it holds, or where none was named.
  std::int64_t beyond_budget() const;
  // Whether both hold it, the plan and its arena.
  bool holds() const { return planned.report.holds() && beyond_budget() == 0; }
};

// Plans and schedules. Where the arena is above the budget although the plan's peak is not (the
// packing has a gap, or alignment rounds up), plans again with the sizes that buffers take up, for
// the budget less the gap, then for less by as much as the arena is still above, and once one
// holds, or can't be planned, for peaks between; a few times at most. Where none holds,
// does the same for smaller kernels (CostModel::smaller). Gives the plan that recomputes least of
// those whose arenas hold, or else the one with the lowest arena: how far that is beyond the budget
// is a finding, no failure. Fails as plan_document does, where the alignment is none, and where a
// schedule is not proved by the verifier (which is a fault of ours).
Result<ScheduledPlan> schedule_document(const Document& document, const SchedulingRequest& request);

// A plan that is there already as kernels with addresses: make_schedule, and the verifier's proof.
Result<Schedule> schedule_plan(const Graph& graph, const KernelModel& kernels, const Plan& plan,
                               const ScheduleOptions& options = {});

// Lays the plan out and notes its arena's bytes in the report: as slow as packing an arena.
Result<Done> note_arena(const Graph& graph, Planned& planned);

// The figures, for scripts; `whole`: every kernel and buffer as well.
std::string schedule_json(const Document& document, const ScheduledPlan& scheduled, bool whole);

// The figures and the largest buffers, for people.
std::string scheduling_text(const Document& document, const ScheduledPlan& scheduled);

// Why the arena can't be held in the budget.
std::string beyond_budget_text(const ScheduledPlan& scheduled);

}  // namespace recut

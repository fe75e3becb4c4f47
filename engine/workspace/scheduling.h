// Plans a document's graph and schedules the plan, such that the arena holds the budget.
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

// One tried plan and its arena.
struct SchedulingRound {
  Fusion fusion = Fusion::none;
  // The budget of the peak; 0: none. From the second round on with aligned buffer sizes.
  std::int64_t target_bytes = 0;
  std::int64_t peak_bytes = 0;  // of the plan, with unaligned sizes
  std::int64_t arena_bytes = 0;
  std::int64_t gap_bytes = 0;  // of the arena, beyond the peak of its buffers
};

struct ScheduledPlan {
  Planned planned;
  SharedKernels kernels;  // of the plan and the schedule
  Schedule schedule;
  std::vector<SchedulingRound> rounds;  // in order; the first is for the budget itself
  double schedule_ms = 0;               // scheduling alone, of all rounds

  // Bytes of the arena beyond the budget; 0 if it holds, or without a budget.
  std::int64_t beyond_budget() const;
  // The plan's peak and its arena are both within the budget.
  bool holds() const { return planned.report.holds() && beyond_budget() == 0; }
};

// Plans and schedules. The arena may exceed the budget although the plan's peak doesn't: packing
// leaves gaps, and alignment rounds up. Then it plans again with aligned sizes: for the budget less
// the gap, then for less by the remaining excess, and once a plan holds or is infeasible, for peaks
// in between (bisection), a few rounds at most. If none holds, it repeats that with smaller kernels
// (CostModel::with_smaller_kernels). It returns the plan with the least recomputation among those
// whose arena holds, or else the plan with the smallest arena: exceeding the budget is a finding,
// no failure. Fails as plan_document does, on an invalid alignment, and if the verifier rejects a
// schedule, which is an internal error.
Result<ScheduledPlan> schedule_document(const Document& document, const SchedulingRequest& request);

// Schedules a given plan, and verifies the schedule.
Result<Schedule> schedule_plan(const Graph& graph, const KernelModel& kernels, const Plan& plan,
                               const ScheduleOptions& options = {});

// Schedules the plan and sets arena_bytes in its report: as slow as packing an arena.
Result<Done> measure_arena(const Graph& graph, Planned& planned);

// The figures, for scripts; `whole` adds every kernel and buffer.
std::string schedule_json(const Document& document, const ScheduledPlan& scheduled, bool whole);

// The figures and the largest buffers, for users.
std::string scheduling_text(const Document& document, const ScheduledPlan& scheduled);

// The message for an arena that exceeds the budget.
std::string arena_over_budget_text(const ScheduledPlan& scheduled);

}  // namespace recut

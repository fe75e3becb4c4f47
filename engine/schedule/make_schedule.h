// From a plan to a schedule: kernels, buffers and their offsets in the arena.
#pragma once

#include <cstdint>

#include "engine/fusion/kernel_model.h"
#include "engine/ir/graph.h"
#include "engine/ir/plan.h"
#include "engine/schedule/schedule.h"
#include "engine/support/result.h"

namespace recut {

struct ScheduleOptions {
  std::int64_t alignment = 64;  // bytes; a power of two
  double effort = 1;            // of the packing (arena.h)

  // Element-wise kernels overwrite a dead operand of the same layout (in_place.h). Planners don't
  // model this, so the arena may be smaller than the planned peak. It is never larger than without.
  bool in_place = false;
};

// The schedule of a plan, in the plan's order. Fails if the plan can't run (replay.h), if the
// alignment isn't a power of two up to 2^30, or if the bytes add up to more than 2^61.
Result<Schedule> make_schedule(const Graph& graph, const KernelModel& kernels, const Plan& plan,
                               const ScheduleOptions& options = {});

}  // namespace recut

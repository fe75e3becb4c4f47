// From a plan to its schedule: kernels, buffers and their places in the arena.
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
  double effort = 1;            // of the packing: arena.h

  // Element-wise kernels write over an operand that nobody needs after them, of the same layout,
  // that is no saved value. Planners know nothing of that: what the arena has less than the peak
  // is a gift. It never has more with than without.
  bool in_place = false;
};

// The schedule of a plan, in the plan's order. Fails where the plan can't run (replay.h), where the
// alignment is no power of two up to 2^30, and where the bytes add up to more than 2^61.
Result<Schedule> make_schedule(const Graph& graph, const KernelModel& kernels, const Plan& plan,
                               const ScheduleOptions& options = {});

}  // namespace recut

// The verifier's part about values: what is read is there, and what is returned stays.
#pragma once

#include "engine/schedule/schedule.h"
#include "engine/schedule/verify/faults.h"

namespace recut::verify {

// Of a schedule whose steps are the plan's and whose buffers name what exists.
void check_values(const Graph& graph, const StorageModel& storages, const Plan& plan,
                  const Schedule& schedule, Faults& faults);

}  // namespace recut::verify

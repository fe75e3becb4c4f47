// The verifier's checks of values: liveness of reads and of results.
#pragma once

#include "engine/schedule/schedule.h"
#include "engine/schedule/verify/faults.h"

namespace recut::verify {

// Requires that check_steps and check_buffers passed.
void check_liveness(const Graph& graph, const StorageModel& storages, const Plan& plan,
                    const Schedule& schedule, Faults& faults);

}  // namespace recut::verify

// The verifier's part about bytes: what buffers are of, and where they lie.
#pragma once

#include "engine/schedule/schedule.h"
#include "engine/schedule/verify/faults.h"

namespace recut::verify {

// Each buffer by itself. False where a buffer names something that doesn't exist, so that nothing
// else can be asked of it.
bool check_buffers(const Graph& graph, const StorageModel& storages, const Schedule& schedule,
                   Faults& faults);

// All buffers together: places and figures.
void check_places(const Graph& graph, const StorageModel& storages, const Schedule& schedule,
                  Faults& faults);

}  // namespace recut::verify

// The verifier's checks of buffers and their placement.
#pragma once

#include "engine/schedule/schedule.h"
#include "engine/schedule/verify/faults.h"

namespace recut::verify {

// Each buffer by itself. Returns false if a buffer refers to something that doesn't exist, so that
// further checks are impossible.
bool check_buffers(const Graph& graph, const StorageModel& storages, const Schedule& schedule,
                   Faults& faults);

// All buffers together: offsets and totals.
void check_placement(const Graph& graph, const StorageModel& storages, const Schedule& schedule,
                     Faults& faults);

}  // namespace recut::verify

// Which buffers may take the place of an operand.
#pragma once

#include "engine/schedule/schedule.h"

namespace recut {

// Sets `in_place_of` where that is safe, lowest buffers first; each place is passed on once. A
// kernel qualifies where all of its calls are element-wise and of one shape and dense layout, so
// that it is one loop that has read all of an element's operands when it writes it; an operand
// where it is read as it was made, not by way of a view, has as many bytes, dies in the kernel and
// is a temporary.
void reuse_in_place(const Graph& graph, const StorageModel& storages, Schedule& schedule);

}  // namespace recut

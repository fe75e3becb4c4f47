// In-place reuse of operands' buffers.
#pragma once

#include "engine/schedule/schedule.h"

namespace recut {

// Sets `in_place_of` where that is safe, in the order of buffers; each operand is reused once. A
// kernel qualifies if all of its calls are element-wise with the same shape and dense layout: then
// it is one loop that reads all operands of an element before it writes it. An operand qualifies if
// it isn't read through a view, has the same size, dies in the kernel, and is a temporary.
void reuse_in_place(const Graph& graph, const StorageModel& storages, Schedule& schedule);

}  // namespace recut

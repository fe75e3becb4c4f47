// Proves a schedule, by its own reading of graph and plan: it shares no code with what made it, nor
// with replay. What it sees to:
//
//   steps      The kernels' calls are the plan's steps, each once and in the plan's order; none
//              runs across the border between forward and backward; what runs again says so.
//   reads      What a call reads is there: an input (tangents in backward alone), something that
//              the same kernel has made and keeps to itself, or a buffer that was made before and
//              is alive. In backward of forward's values only what the plan saves, and inputs.
//   returns    Results and gradients are computed and have buffers that live to the end.
//   buffers    Each is of a storage whose owner runs in the kernel that makes it, and has its
//              bytes; a workspace is there for its kernel, and each call that needs one has one.
//   places     Offsets are aligned and within the arena; no two buffers that are alive at once
//              overlap. Where one takes another's place: the kernel is one loop over elements that
//              lie alike, the other dies in it, is no saved value and not returned.
//   figures    The most bytes alive at once are those that the schedule names, and the arena is as
//              large as its highest buffer.
#pragma once

#include "engine/schedule/schedule.h"
#include "engine/support/result.h"

namespace recut {

// All faults, up to 100; none of a sound schedule. The plan has to name calls of the graph alone.
Diagnostics verify_schedule(const Graph& graph, const StorageModel& storages, const Plan& plan,
                            const Schedule& schedule);

}  // namespace recut

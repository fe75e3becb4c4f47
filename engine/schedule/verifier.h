// Verifies a schedule against graph and plan. It shares no code with make_schedule or replay. The
// checks:
//
//   steps      The kernels' calls are the plan's steps, each once and in the plan's order; no
//              kernel crosses the forward/backward boundary; recomputations are marked.
//   reads      A call reads inputs (tangents only in backward), values that are local to its
//              kernel, and live buffers. Backward reads only those forward values that the plan
//              saves.
//   returns    Results and gradients are computed and have buffers that live to the end.
//   buffers    A buffer's storage is computed by its first kernel, and has the same size. A
//              workspace lives during one kernel; each call that needs one has one.
//   placement  Offsets are aligned and within the arena; no two live buffers overlap. For in-place
//              reuse, the kernel is one loop over elements of the same layout, and the old buffer
//              dies in it, and is neither saved nor returned.
//   totals     The maximum of live bytes is as stated, and the arena ends with its highest buffer.
#pragma once

#include "engine/schedule/schedule.h"
#include "engine/support/result.h"

namespace recut {

// Up to 100 diagnostics; empty for a sound schedule. The plan must only name calls of the graph.
Diagnostics verify_schedule(const Graph& graph, const StorageModel& storages, const Plan& plan,
                            const Schedule& schedule);

}  // namespace recut

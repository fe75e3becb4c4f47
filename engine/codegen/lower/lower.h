// From calls of a graph to a kernel in loop form: the calls that run as one kernel (a fusion group,
// or one call) become loop nests over buffers that are storages.
//
// Views are index arithmetic and never copied; what only the kernel's own calls read never reaches
// memory. Formulas have the meaning that engine/eval gives operators, but that f32, f16 and bf16
// are computed in f32, where eval computes in f64 and rounds once; sums are in lanes
// (loop/kernel.h).
#pragma once

#include <span>
#include <vector>

#include "engine/codegen/lower/lowered_kernel.h"
#include "engine/fusion/fusion_groups.h"
#include "engine/ir/graph.h"
#include "engine/ir/storage_model.h"
#include "engine/support/result.h"

namespace recut::loop {

// The calls of one kernel, in the graph's order: a group of `groups`, or a call that is alone.
// Views and getitems may stand between them and are left out. Fails where an operator has no
// lowering, or not for its arguments: every such call is named.
Result<LoweredKernel> lower(const Graph& graph, const StorageModel& storages,
                            const FusionGroups& groups, std::span<const NodeId> calls,
                            const LowerOptions& options = {});

// Those of a kernel's calls that are lowered: without views, and without parts of what others make.
// A kernel's notes are of these, in this order.
std::vector<NodeId> computed_calls(const Graph& graph, std::span<const NodeId> calls);

// Whether calls of this operator lower, at least for some arguments.
bool has_lowering(Op op);

}  // namespace recut::loop

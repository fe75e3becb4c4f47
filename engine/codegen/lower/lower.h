// Lowers calls of a graph to a kernel in loop form: the calls that run as one kernel (a fusion
// group, or a single call) become loop nests over storages.
//
// Views are index arithmetic and never copied; values that only the kernel's own calls read stay in
// registers. Formulas have the meaning that engine/eval gives operators, except that f32, f16 and
// bf16 are computed in f32, where eval computes in f64 and rounds once; sums are in lanes
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

// The calls of one kernel, in the graph's order: a group of `groups`, or a single call. Views and
// getitems between them are skipped. Fails where an operator or its arguments have no lowering, and
// names every such call.
Result<LoweredKernel> lower(const Graph& graph, const StorageModel& storages,
                            const FusionGroups& groups, std::span<const NodeId> calls,
                            const LowerOptions& options = {});

// The calls of a kernel that are lowered: without views and getitems. A kernel's source locations
// are these calls, in this order.
std::vector<NodeId> computed_calls(const Graph& graph, std::span<const NodeId> calls);

// True where calls of this operator lower, at least for some arguments.
bool has_lowering(Op op);

}  // namespace recut::loop

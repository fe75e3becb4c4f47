// Values of calls that run nested graphs (engine/ir/region_call.h).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "engine/eval/evaluator.h"
#include "engine/eval/kernel.h"

namespace recut {

// The reason that an external call has no values; none if it has.
std::optional<std::string> why_no_region_values(const Graph& graph, NodeId id);

// Runs a call that has values, and fills its outputs. `options` are those of the step, and their
// last run is the call's first: each of its runs has random numbers of its own.
Result<Done> run_regions(const Graph& graph, NodeId id, const KernelContext::ValuesOf& values_of,
                         const EvaluateOptions& options, std::span<Tensor> outputs);

}  // namespace recut

// Values of flex_attention and of its gradients (engine/ir/flex_attention.h).
#pragma once

#include <span>

#include "engine/eval/evaluator.h"
#include "engine/eval/kernel.h"

namespace recut {

// Runs such a call whose nested graphs the graph has, and fills its outputs.
Result<Done> run_flex_attention(const Graph& graph, NodeId id,
                                const KernelContext::ValuesOf& values_of,
                                const EvaluateOptions& options, std::span<Tensor> outputs);

}  // namespace recut

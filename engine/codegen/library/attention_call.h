// Matches attention calls of a graph to library attention, for library_call.cpp.
#pragma once

#include <optional>

#include "engine/codegen/library/library_kernel.h"
#include "engine/ir/graph.h"
#include "engine/ir/storage_model.h"

namespace recut::library {

// Nothing where the call is no attention, has dropout by the device's own random numbers, or
// requests the gradient of its bias. Operands must have rank 4, supported layouts, and one of the
// dtypes f32, bf16 and f16.
std::optional<Kernel> attention_kernel(const Graph& graph, const StorageModel& storages, NodeId id);

}  // namespace recut::library

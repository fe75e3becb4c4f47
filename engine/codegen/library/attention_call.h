// Attention's calls of a graph as a library's, for library_call.cpp.
#pragma once

#include <optional>

#include "engine/codegen/library/library_kernel.h"
#include "engine/ir/graph.h"
#include "engine/ir/storage_model.h"

namespace recut::library {

// Nothing where the call is no attention, drops by a device's own random numbers, has operands of
// other ranks than four, of several layouts or of other dtypes than f32, bf16 and f16, or where the
// gradient of its bias is wanted.
std::optional<Kernel> attention_kernel(const Graph& graph, const StorageModel& storages, NodeId id);

}  // namespace recut::library

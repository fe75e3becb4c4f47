// The memory of a nested graph: a branch of `cond`, the body of a loop.
#pragma once

#include <cstdint>

#include "engine/ir/graph.h"

namespace recut {

// The most bytes that are alive at once while `region` runs in program order, besides its inputs
// and its results: those belong to the call that runs it. A storage is alive from its call to its
// last use (storage_model.h).
std::int64_t region_bytes(const Graph& region);

// The same of the region of a call that takes most; 0 where it names none.
std::int64_t region_bytes(const Graph& graph, NodeId call);

}  // namespace recut

// How large an index may be: found by who reads it.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/ir/graph.h"

namespace recut {

// Integers of this value have to be below the bound: rows of an embedding's table, classes of a
// loss, the size of a dimension that is indexed. Views, conversions, padding and choices between
// the value and another are looked through. The least, where several read it; nothing where none of
// them says so.
std::optional<std::int64_t> index_bound(const Graph& graph, NodeId value);

}  // namespace recut

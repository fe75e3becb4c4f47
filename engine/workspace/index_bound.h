// The exclusive upper bound of an index value, derived from its readers.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/ir/graph.h"

namespace recut {

// The elements of `value` have to be below the bound: rows of an embedding's table, classes of a
// loss, the size of an indexed dimension. The search looks through views, casts, padding and
// `where`. Several readers give the smallest bound, none gives nothing.
std::optional<std::int64_t> index_bound(const Graph& graph, NodeId value);

}  // namespace recut

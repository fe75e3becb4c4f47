// Reflection and replication padding.
#pragma once

#include "engine/codegen/lower/formula.h"

namespace recut::loop {

enum class Edge : std::uint8_t { reflected, replicated };

// The index into a plane of `shape` that a padded index reads. `padding` lists pairs from the last
// dimension on.
Indices shown_at_edges(Lowering& lowering, const Call& call, const Shape& shape, Edge edge,
                       const Indices& padded);

}  // namespace recut::loop

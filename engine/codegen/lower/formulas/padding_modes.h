// Reflection and replication padding.
#pragma once

#include "engine/codegen/lower/formula.h"

namespace recut::loop {

enum class PadMode : std::uint8_t { reflect, replicate };

// The index into a plane of `shape` that a padded index reads. `padding` lists pairs from the last
// dimension on.
Indices padded_source_index(Lowering& lowering, const Call& call, const Shape& shape, PadMode mode,
                            const Indices& padded);

}  // namespace recut::loop

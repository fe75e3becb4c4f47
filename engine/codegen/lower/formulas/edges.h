// Paddings that show a plane's own elements again.
#pragma once

#include "engine/codegen/lower/formula.h"

namespace recut::loop {

enum class Edge : std::uint8_t { reflected, replicated };

// The place in a plane of `shape` that a padded place shows; pads are the call's `padding`, from
// the last dimension on.
Indices shown_at_edges(Lowering& lowering, const Call& call, const Shape& shape, Edge edge,
                       const Indices& padded);

}  // namespace recut::loop

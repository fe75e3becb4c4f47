// A value in another layout.
#pragma once

#include "engine/ir/graph.h"

namespace recut {

// True if a copy of a value can have this type.
bool can_be_laid_out(const TensorType& from, const TensorType& to);

// The value with this type: itself, or a copy where its strides differ.
NodeId laid_out(Graph& graph, NodeId value, const TensorType& type);

}  // namespace recut

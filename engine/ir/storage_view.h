// The layout of a value's elements within its storage, as the interpreter has it. as_strided and
// its kin address that storage, beyond the elements of their operand.
#pragma once

#include "engine/ir/graph.h"
#include "engine/ir/layout.h"

namespace recut {

// Layout of an input in its own storage: the recorded strides, unless the gaps are far larger than
// the elements.
Layout input_layout(const TensorType& type);
// Layout of a call's output in its own storage: as recorded if that is dense, else row-major.
Layout output_layout(const TensorType& type);

struct StorageView {
  NodeId owner;            // an input, a call, or a view that had to copy
  std::size_t output = 0;  // of the owner
  Layout whole;            // the owner's elements in the storage
  Layout shown;            // the value's elements
};

// Fails if a view in between reinterprets bytes (view.dtype) and has no layout in elements.
Result<StorageView> storage_view(const Graph& graph, NodeId id, std::size_t output = 0);

}  // namespace recut

// Where a value's elements stand in the storage behind it, as the interpreter has them. as_strided
// and its kin count in that storage, past what their operand shows.
#pragma once

#include "engine/ir/graph.h"
#include "engine/ir/layout.h"

namespace recut {

// How an input of this type lies in a storage of its own: with the recorded strides, unless there
// is far more room between its elements than they take.
Layout input_layout(const TensorType& type);
// The same of what a call makes: dense as recorded, else row-major.
Layout made_layout(const TensorType& type);

struct StorageView {
  NodeId owner;            // whose storage it is: an input, a call, or a view that had to copy
  std::size_t output = 0;  // of the owner
  Layout whole;            // the owner's elements in the storage
  Layout shown;            // the value's elements
};

// Fails where a view on the way is one that only bytes could express.
Result<StorageView> storage_view(const Graph& graph, NodeId id, std::size_t output = 0);

}  // namespace recut

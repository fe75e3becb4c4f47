// View maps: a view is index arithmetic over the storage of its base tensor, and is never copied
// (ShapeTracker in tinygrad, ReinterpretView in Inductor).
#pragma once

#include <vector>

#include "engine/codegen/lower/builder.h"
#include "engine/ir/graph.h"
#include "engine/ir/layout.h"
#include "engine/ir/storage_view.h"
#include "engine/support/result.h"

namespace recut::loop {

// A value of the graph that owns a storage: one output of a node, as LLVM's SDValue names it. The
// storage is laid out as the output's type says where that is dense, else contiguously.
struct Made {
  NodeId node;
  std::size_t output = 0;

  friend bool operator==(const Made&, const Made&) = default;
  friend bool operator<(const Made& a, const Made& b) {
    return a.node != b.node ? a.node < b.node : a.output < b.output;
  }
};

// A base and the layouts that are applied to it, one after another. Two layouts that cannot be
// merged into one stay separate: the later one indexes the row-major elements of the earlier one.
struct Address {
  Made made;
  std::vector<Layout> layouts;  // the first indexes the storage

  const Shape& shape() const { return layouts.back().shape; }
};

// The view map of a node's output. Fails where the view reinterprets bytes as another dtype.
Result<Address> address_of(const Graph& graph, NodeId id, std::size_t output = 0);

// The view map of the first operand, followed by the layout rule of the view operator `call`.
Result<Address> viewed(const Graph& graph, NodeId call, std::size_t output);

// The storage offset of the element at index `at` (one index a dimension of the map's shape).
Index place_of(const Address& address, std::vector<Index> at, const Builder& builder);

// The inverse for a single layout: the index of the element at a storage offset.
std::vector<Index> element_at(const Layout& storage, const Index& place, const Builder& builder);

// Row-major offset to index, and index to offset (affine.delinearize_index in MLIR).
std::vector<Index> delinearised(const Index& place, const Shape& shape, const Builder& builder);
Index linearised(const std::vector<Index>& at, const Shape& shape);

}  // namespace recut::loop

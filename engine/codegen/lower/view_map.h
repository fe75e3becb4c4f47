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
struct ValueRef {
  NodeId node;
  std::size_t output = 0;

  friend bool operator==(const ValueRef&, const ValueRef&) = default;
  friend bool operator<(const ValueRef& a, const ValueRef& b) {
    return a.node != b.node ? a.node < b.node : a.output < b.output;
  }
};

// A base and the layouts that are applied to it, one after another. Two layouts that cannot be
// merged into one stay separate: the later one indexes the row-major elements of the earlier one.
struct ViewMap {
  ValueRef base;
  std::vector<Layout> layouts;  // the first indexes the storage

  const Shape& shape() const { return layouts.back().shape; }
};

// The parts of complex numbers in a layout, as reals of a new last dimension; other dtypes stay.
Layout in_parts(Layout layout, DType dtype);

// The layout of an output in its buffer: complex numbers in parts.
Layout buffer_layout(const TensorType& type);

// The view map of a node's output. Fails where the view reinterprets bytes as another dtype.
Result<ViewMap> view_map_of(const Graph& graph, NodeId id, std::size_t output = 0);

// The view map of the first operand, followed by the layout rule of the view operator `call`.
Result<ViewMap> compose_view(const Graph& graph, NodeId call, std::size_t output);

// The storage offset of the element at index `at` (one index a dimension of the map's shape).
Index element_offset(const ViewMap& view_map, std::vector<Index> at, const Builder& builder);

// The inverse for a single layout: the index of the element at a storage offset.
std::vector<Index> index_at_offset(const Layout& storage, const Index& offset,
                                   const Builder& builder);

// Row-major offset to index, and index to offset (affine.delinearize_index in MLIR).
std::vector<Index> delinearize(const Index& offset, const Shape& shape, const Builder& builder);
Index linearize(const std::vector<Index>& at, const Shape& shape);

}  // namespace recut::loop

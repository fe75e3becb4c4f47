// Row fusion: reductions over the same rows, and the element-wise calls after them, as one kernel
// (Inductor fuses reductions with their epilogues), such as softmax and the normalisations, forward
// and backward.
//
//   %m = amax(%x, [1], true)          for each row its largest element,
//   %e = exp(sub(%x, %m))             then the sum of its exponentials,
//   %s = sum(%e, [1], true)
//   %q = div(%e, %s)                  then its quotients
//
// A row is the set of elements that a reduction reduces to one element of its result.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/ir/call.h"
#include "engine/ir/graph.h"

namespace recut {

// The shape that a reduction runs over, and its reduced dimensions. Each index of the other
// dimensions is one row.
struct RowSpace {
  Shape shape;
  std::vector<bool> reduced;  // by dimension

  std::int64_t rows() const;
  friend bool operator==(const RowSpace&, const RowSpace&) = default;
};

// Tells whether threads can share the work by rows: there are many rows, or few elements.
bool has_enough_rows(const RowSpace& space);

// Tells whether the smallest of these strides lies within a row.
bool rows_lie_together(const RowSpace& space, const Strides& strides);

// The dimensions that a call's `dim` reduces: all of them if it is None or absent, or if it is
// empty and an empty list means all.
std::vector<bool> reduced_dimensions(const Call& call, std::size_t rank,
                                     bool empty_reduces_all = true);

// The rows of a reduction over whole dimensions of `self`; nullopt for other calls.
std::optional<RowSpace> rows_of(const Graph& graph, NodeId call);

// The calls of one kernel after its reductions.
struct RowKernel {
  enum class Form : std::uint8_t {
    ends,       // no call reads a reduction of the kernel
    continues,  // row by row
    impossible  // some call reads an element of a reduction that is not its own row's
  };
  Form form = Form::ends;
  NodeId first;                // if it continues: the first reduction that its calls read,
  RowSpace space;              // the space that all of these reductions reduce,
  std::vector<NodeId> behind;  // and the calls that depend on one of them, in order
  bool is_behind(NodeId call) const;
};

// `calls` in the graph's order, without views.
RowKernel row_kernel(const Graph& graph, std::span<const NodeId> calls);

}  // namespace recut

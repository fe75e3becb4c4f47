// Kernels that go on after a reduction, row by row: softmax and the normalisations, forward and
// backward (what Inductor calls persistent reductions).
//
//   %m = amax(%x, [1], true)          for each row its largest element,
//   %e = exp(sub(%x, %m))             then the sum of its exponentials,
//   %s = sum(%e, [1], true)
//   %q = div(%e, %s)                  then its quotients
//
// A row is what becomes one element of a reduction's result.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/ir/call.h"
#include "engine/ir/graph.h"

namespace recut {

// What reductions fold, and which of its dimensions: each place of the others is a row.
struct RowSpace {
  Shape shape;
  std::vector<bool> folded;  // by dimension

  std::int64_t rows() const;
  friend bool operator==(const RowSpace&, const RowSpace&) = default;
};

// Whether rows can be what threads share: there are enough of them, or there is little to do.
bool has_enough_rows(const RowSpace& space);

// Whether the shortest of these steps are within a row.
bool rows_lie_together(const RowSpace& space, const Strides& strides);

// The dimensions that a call's `dim` folds: all where that is None, absent or (unless an empty list
// means none) empty.
std::vector<bool> folded_dimensions(const Call& call, std::size_t rank,
                                    bool empty_folds_all = true);

// The rows of a reduction that folds whole dimensions of `self`; nothing for other calls.
std::optional<RowSpace> rows_of(const Graph& graph, NodeId call);

// How the calls of one kernel go on after the reductions among them.
struct RowKernel {
  enum class Form : std::uint8_t {
    ends,       // with its reductions: none of its calls reads one
    goes_on,    // row by row
    impossible  // some call needs more of a reduction than its own row's element
  };
  Form form = Form::ends;
  NodeId first;                // where it goes on: the first reduction that its calls read,
  RowSpace space;              // and what all of those fold
  std::vector<NodeId> behind;  // the calls that need one of those, in order
  bool is_behind(NodeId call) const;
};

// `calls` in the graph's order, without views.
RowKernel row_kernel(const Graph& graph, std::span<const NodeId> calls);

}  // namespace recut

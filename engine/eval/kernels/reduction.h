// Iteration for reductions and scans: the reduced dimensions of a call, walks over elements with
// their output element, and lines along one dimension.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/eval/kernel.h"
#include "engine/ir/promotion.h"

namespace recut {

// The dimensions of `shape` that the call's `dim` reduces: all if it is None, absent from the
// schema, or (unless the operator says otherwise) an empty list.
std::vector<bool> reduced_dimensions(const Call& call, const Shape& shape,
                                     bool empty_reduces_all = true);

// The number of elements reduced to each output.
std::int64_t reduced_count(const Shape& shape, const std::vector<bool>& reduced);

// Calls visit(element, output) for all elements of `shape` in row-major order: both row-major
// indices.
template <class Visit>
void for_each_reduced(const Shape& shape, const std::vector<bool>& reduced, Visit&& visit) {
  std::vector<std::int64_t> steps(shape.size(), 0);
  std::int64_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (reduced[d]) continue;
    steps[d] = step;
    step *= shape[d];
  }
  std::vector<std::int64_t> at(shape.size(), 0);
  std::int64_t output = 0;
  const std::int64_t count = element_count(shape);
  for (std::int64_t i = 0; i < count; ++i) {
    visit(i, output);
    for (std::size_t d = shape.size(); d-- > 0;) {
      output += steps[d];
      if (++at[d] < shape[d]) break;
      output -= steps[d] * shape[d];
      at[d] = 0;
    }
  }
}

// acc = f(acc, x) over the reduced elements, from `initial`.
template <class R, class T, class F>
Dense<R> fold(const Dense<T>& values, const std::vector<bool>& reduced, const Shape& output,
              R initial, F f) {
  Dense<R> out(output, initial);
  for_each_reduced(values.shape, reduced,
                   [&](std::int64_t i, std::int64_t o) { out[o] = f(out[o], values[i]); });
  return out;
}

// The lines of a tensor along one dimension; a zero-dimensional tensor is one line of one element.
struct Lines {
  std::int64_t count = 1;   // of lines
  std::int64_t length = 1;  // of each
  std::int64_t step = 1;    // from one element of a line to the next

  Lines(const Shape& shape, std::int64_t dimension);

  // The first element of line `i`. Lines are in row-major order of the other dimensions, so that
  // line i reduces to element i of the output.
  std::int64_t begin(std::int64_t i) const { return i / step * (step * length) + i % step; }
};

// Lines along the call's `dim`.
Lines lines_of(const Call& call, const Shape& shape);

// A parameter cast to the output's dtype.
template <class T>
Dense<T> read_as(const KernelContext& context, std::string_view parameter, DType dtype);

}  // namespace recut

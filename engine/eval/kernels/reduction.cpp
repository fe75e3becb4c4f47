#include "engine/eval/kernels/reduction.h"

#include "engine/eval/kernels/elementwise.h"

namespace recut {
namespace {

// Shape rules have refused dimensions out of range.
std::int64_t wrapped(std::int64_t dimension, const Shape& shape) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  return wrap_dimension(dimension, rank).value();
}

}  // namespace

std::vector<bool> reduced_dimensions(const Call& call, const Shape& shape, bool empty_reduces_all) {
  std::vector<bool> reduced(shape.size(), true);
  if (!call.op().parameter("dim") || !call.given("dim")) return reduced;
  const auto dims = call.integers("dim");
  if (dims.empty() && empty_reduces_all) return reduced;
  reduced.assign(shape.size(), false);
  for (const std::int64_t d : dims)
    if (!shape.empty()) reduced[static_cast<std::size_t>(wrapped(d, shape))] = true;
  return reduced;
}

std::int64_t reduced_count(const Shape& shape, const std::vector<bool>& reduced) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (reduced[d]) count *= shape[d];
  return count;
}

Lines::Lines(const Shape& shape, std::int64_t dimension) {
  if (shape.empty()) return;
  const auto at = static_cast<std::size_t>(dimension);
  length = shape[at];
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d != at) count *= shape[d];
    if (d > at) step *= shape[d];
  }
  if (step == 0) step = 1;  // no lines at all
}

Lines lines_of(const Call& call, const Shape& shape) {
  return Lines(shape, wrapped(call.integer("dim"), shape));
}

template <class T>
Dense<T> read_as(const KernelContext& context, std::string_view parameter, DType dtype) {
  return elementwise::operand<T>(context, parameter, dtype);
}

template Reals read_as(const KernelContext&, std::string_view, DType);
template Integers read_as(const KernelContext&, std::string_view, DType);
template Complexes read_as(const KernelContext&, std::string_view, DType);

}  // namespace recut

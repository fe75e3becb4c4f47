// Data movement: iteration over multi-indices, and gathering or scattering elements by an index
// function.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/eval/kernel.h"
#include "engine/eval/kernels/elementwise.h"

namespace recut::data_movement {

using Coordinates = std::vector<std::int64_t>;

// Result of an index function that selects no element.
inline constexpr std::int64_t kNoSource = -1;

inline std::size_t at(std::int64_t dimension) { return static_cast<std::size_t>(dimension); }

// Calls f with a zero of the type that kernels compute on for `dtype` (type dispatch).
template <class F>
Result<Done> with_numbers_of(DType dtype, F&& f) {
  if (is_complex(dtype)) return f(Complex{});
  if (is_floating(dtype)) return f(double{});
  return f(std::int64_t{});
}

// Calls visit(row-major index, coordinates) for every index of a shape (XLA's ForEachIndex).
template <class Visit>
void for_each_index(const Shape& shape, Visit&& visit) {
  Coordinates position(shape.size(), 0);
  const std::int64_t count = element_count(shape);
  for (std::int64_t i = 0; i < count; ++i) {
    visit(i, std::as_const(position));
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++position[d] < shape[d]) break;
      position[d] = 0;
    }
  }
}

// Row-major index of coordinates, given the shape's contiguous strides.
inline std::int64_t flat(const Coordinates& position, const Strides& strides) {
  std::int64_t index = 0;
  for (std::size_t d = 0; d < position.size(); ++d) index += position[d] * strides[d];
  return index;
}

// The dimension argument, wrapped; it was checked when the graph was read.
inline std::size_t dimension(const KernelContext& c, std::string_view parameter,
                             std::int64_t rank) {
  return at(wrap_dimension(c.call.integer(parameter), rank).value());
}

// A Scalar as the type of the computation.
template <class T>
T number(const Scalar& scalar) {
  if constexpr (std::is_same_v<T, std::int64_t>)
    return scalar.integer;
  else
    return T(scalar.real);
}

// A Scalar argument, or the value of a zero-dimensional tensor.
template <class T>
T number(const KernelContext& c, std::string_view parameter) {
  return c.read<T>(parameter)[0];
}

// out[i] = from[source(i)]. `source` gives a row-major index, or kNoSource for `fill`.
template <class Source>
Result<Done> gather_by_index(KernelContext& c, std::string_view from, Source source,
                             Scalar fill = Scalar{DType::i64, 0, 0}) {
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) -> Result<Done> {
    using T = decltype(zero);
    const Dense<T> values = c.read<T>(from);
    Dense<T> out(c.output_types[0].shape, number<T>(fill));
    for_each_index(out.shape, [&](std::int64_t i, const Coordinates& position) {
      const std::int64_t index = source(position);
      if (index != kNoSource) out[i] = values[index];
    });
    c.write(out);
    return Done{};
  });
}

// out[target(i)] += from[i]: the transpose of gather_by_index.
template <class Target>
Result<Done> scatter_add_by_index(KernelContext& c, std::string_view from, Target target) {
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) -> Result<Done> {
    using T = decltype(zero);
    const Dense<T> values = c.read<T>(from);
    Dense<T> out(c.output_types[0].shape);
    for_each_index(values.shape, [&](std::int64_t i, const Coordinates& position) {
      const std::int64_t index = target(position);
      if (index != kNoSource) out[index] = elementwise::plus(out[index], values[i]);
    });
    c.write(out);
    return Done{};
  });
}

// The diagnostic for an index value that is out of range.
inline Diagnostic out_of_range(const KernelContext& c, std::int64_t index, std::int64_t dimension,
                               std::int64_t size) {
  return error(fmt::format("{}: index {} is out of range for dimension {} of size {}",
                           c.call.op().name, index, dimension, size));
}

// The values of an index along a dimension of `size`, in range; negative ones may count from its
// end.
enum class Negative : std::uint8_t { refused, from_end };
inline Result<std::vector<std::int64_t>> indices_into(const KernelContext& c,
                                                      std::string_view parameter, std::size_t dim,
                                                      std::int64_t size, Negative negative) {
  std::vector<std::int64_t> indices = c.integers(parameter).data;
  for (std::int64_t& index : indices) {
    const bool counts_back = index < 0 && negative == Negative::from_end;
    const std::int64_t wrapped = counts_back && index >= -size ? index + size : index;
    if (wrapped < 0 || wrapped >= size)
      return out_of_range(c, index, static_cast<std::int64_t>(dim), size);
    index = wrapped;
  }
  return indices;
}

// A tensor seen as outer × size × inner around one dimension.
struct OuterInner {
  std::int64_t outer = 1, size = 1, inner = 1;

  OuterInner(const Shape& shape, std::size_t dim) {
    for (std::size_t d = 0; d < shape.size(); ++d)
      (d < dim ? outer : d == dim ? size : inner) *= shape[d];
  }
  std::int64_t flat(std::int64_t o, std::int64_t s, std::int64_t i) const {
    return (o * size + s) * inner + i;
  }
};

}  // namespace recut::data_movement

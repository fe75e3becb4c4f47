// Distinct values and slices, and counts of integers. Output shapes depend on the values: the graph
// records those of one run, and other values may not fit.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "engine/eval/kernel.h"
#include "engine/eval/kernels/reduction.h"

namespace recut {
namespace {

// Slices of a tensor along a dimension, as rows.
struct Rows {
  std::int64_t count = 0;
  std::int64_t width = 0;
  std::vector<std::int64_t> positions;  // row-major indices of the elements, row after row
};

Rows rows_of(const Shape& shape, std::int64_t dimension) {
  const Lines lines(shape, dimension);
  Rows rows{lines.length, lines.count, {}};
  for (std::int64_t row = 0; row < rows.count; ++row)
    for (std::int64_t line = 0; line < lines.count; ++line)
      rows.positions.push_back(lines.begin(line) + row * lines.step);
  return rows;
}

// Groups of equal rows: the first row of each group, and the group of every row.
struct Groups {
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> of_row;
  std::vector<std::int64_t> sizes;
};

template <class T>
int compare_rows(const Dense<T>& values, const Rows& rows, std::int64_t a, std::int64_t b) {
  for (std::int64_t k = 0; k < rows.width; ++k) {
    const T x = values[rows.positions[static_cast<std::size_t>(a * rows.width + k)]];
    const T y = values[rows.positions[static_cast<std::size_t>(b * rows.width + k)]];
    const bool x_nan = x != x;
    const bool y_nan = y != y;
    if (x < y || (y_nan && !x_nan)) return -1;
    if (y < x || x_nan) return 1;  // a NaN is no one's equal, and larger than numbers
  }
  return 0;
}

// Neighbours in `order` that are equal are one group.
template <class T>
Groups group(const Dense<T>& values, const Rows& rows, const std::vector<std::int64_t>& order) {
  Groups groups;
  groups.of_row.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || compare_rows(values, rows, order[i - 1], order[i]) != 0) {
      groups.first.push_back(order[i]);
      groups.sizes.push_back(0);
    }
    groups.of_row[static_cast<std::size_t>(order[i])] =
        static_cast<std::int64_t>(groups.first.size()) - 1;
    ++groups.sizes.back();
  }
  return groups;
}

template <class T>
std::vector<std::int64_t> order_of(const Dense<T>& values, const Rows& rows, bool consecutive) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows.count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (!consecutive)
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      // Two NaNs compare as unequal both ways: a sort needs an order.
      return compare_rows(values, rows, a, b) < 0 && !(compare_rows(values, rows, b, a) < 0);
    });
  return order;
}

Result<Done> write_list(KernelContext& c, std::size_t output,
                        const std::vector<std::int64_t>& list) {
  if (output >= c.output_types.size() || !c.requested(output)) return Done{};
  const TensorType& type = c.output_types[output];
  if (element_count(type.shape) == 0) return Done{};  // output not requested
  Integers out(type.shape);
  if (out.data.size() != list.size())
    return error(
        fmt::format("these values give {} counts; the graph has {}", list.size(), out.count()));
  out.data = list;
  c.write(out, output);
  return Done{};
}

// Outputs: the values of each group, the group of each row, the sizes of groups. `slices` tells
// slices along a dimension from elements.
template <class T>
Result<Done> write_groups(KernelContext& c, const Dense<T>& values, std::int64_t dimension,
                          bool slices, bool consecutive) {
  Dense<T> flat = values;
  if (!slices) flat.shape = {values.count()};
  const Rows rows = rows_of(flat.shape, dimension);
  const Groups groups = group(flat, rows, order_of(flat, rows, consecutive));
  Dense<T> out(c.output_types[0].shape);
  if (out.count() != static_cast<std::int64_t>(groups.first.size()) * rows.width)
    return error(fmt::format("these values have {} distinct ones; the graph has a shape of {}",
                             groups.first.size(), format_shape(out.shape)));
  const Rows to = rows_of(out.shape, dimension);
  for (std::size_t g = 0; g < groups.first.size(); ++g)
    for (std::int64_t k = 0; k < rows.width; ++k)
      out[to.positions[g * static_cast<std::size_t>(rows.width) + static_cast<std::size_t>(k)]] =
          flat[rows.positions[static_cast<std::size_t>(groups.first[g] * rows.width + k)]];
  c.write(out, 0);
  const auto inverse = write_list(c, 1, groups.of_row);
  return inverse ? write_list(c, 2, groups.sizes) : inverse;
}

Result<Done> unique_of(KernelContext& c, bool consecutive) {
  const Shape& shape = c.call.tensor("self").shape;
  const bool slices = c.call.op().parameter("dim") && c.call.given("dim");
  std::int64_t dimension = 0;
  if (slices) {
    const auto rank = static_cast<std::int64_t>(shape.size());
    const auto wrapped = wrap_dimension(c.call.integer("dim"), rank);
    if (!wrapped || rank == 0 || c.output_types[0].rank() != rank)
      return error("dim has to name a dimension of self");
    dimension = *wrapped;
  } else if (c.output_types[0].rank() != 1) {
    return error("distinct values have one dimension");
  }
  if (is_floating(c.call.tensor("self").dtype))
    return write_groups(c, c.reals("self"), dimension, slices, consecutive);
  return write_groups(c, c.integers("self"), dimension, slices, consecutive);
}

Result<Done> unique(KernelContext& c) { return unique_of(c, false); }
Result<Done> unique_consecutive(KernelContext& c) { return unique_of(c, true); }

Result<Done> bincount(KernelContext& c) {
  const Integers self = c.integers("self");
  const bool weighted = c.call.is_tensor("weights");
  const Reals weights = weighted ? c.reals("weights") : Reals();
  if (weighted && weights.count() != self.count())
    return error("one weight for each element is expected");
  Reals out(c.output_types[0].shape);
  std::int64_t needed = c.call.integer("minlength");
  for (const std::int64_t x : self.data) {
    if (x < 0) return error("bincount counts integers that are not negative");
    needed = std::max(needed, x + (x < INT64_MAX ? 1 : 0));
  }
  if (needed != out.count())
    return error(fmt::format("these values need {} bins; the graph has {}", needed, out.count()));
  for (std::int64_t i = 0; i < self.count(); ++i) out[self[i]] += weighted ? weights[i] : 1;
  c.write(out);
  return Done{};
}

}  // namespace

void add_unique_kernels(KernelTable& table) {
  for (const Op op : {Op::_unique, Op::_unique2, Op::unique_dim}) table.add(op, unique);
  for (const Op op : {Op::unique_consecutive, Op::unique_dim_consecutive})
    table.add(op, unique_consecutive);
  table.add(Op::bincount, bincount);
}

}  // namespace recut

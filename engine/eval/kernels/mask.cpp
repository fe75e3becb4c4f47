// masked_fill, masked_select, masked_scatter and nonzero.
#include <algorithm>

#include "engine/eval/kernels/data_movement.h"

namespace recut {
namespace {

using namespace data_movement;

Integers mask_of(const KernelContext& c, const Shape& shape) {
  return elementwise::broadcast_to(c.integers("mask"), shape);
}

Result<Done> masked_fill(KernelContext& c) {
  const Shape& shape = c.output_types[0].shape;
  const Integers mask = mask_of(c, shape);
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) -> Result<Done> {
    using T = decltype(zero);
    Dense<T> out = elementwise::broadcast_to(c.read<T>("self"), shape);
    const T value = number<T>(c, "value");
    for (std::int64_t i = 0; i < out.count(); ++i)
      if (mask[i] != 0) out[i] = value;
    c.write(out);
    return Done{};
  });
}

// The elements of `parameter`, broadcast with the mask, at which the mask holds.
template <class T>
std::vector<T> selected(const KernelContext& c, std::string_view parameter, const Shape& shape) {
  const Integers mask = mask_of(c, shape);
  const Dense<T> values = elementwise::broadcast_to(c.read<T>(parameter), shape);
  std::vector<T> out;
  for (std::int64_t i = 0; i < values.count(); ++i)
    if (mask[i] != 0) out.push_back(values[i]);
  return out;
}

Result<Shape> shape_with_mask(const KernelContext& c, std::string_view parameter) {
  return broadcast(c.tensor(parameter).shape, c.tensor("mask").shape);
}

// Shapes of data-dependent operators come from the file and have to be those of the data.
Result<Done> check_recorded(const KernelContext& c, const Shape& found) {
  const Shape& recorded = c.output_types[0].shape;
  if (found == recorded) return Done{};
  return error(fmt::format("{}: the values give shape {}, but {} was recorded", c.call.op().name,
                           format_shape(found), format_shape(recorded)));
}

Result<Done> masked_select(KernelContext& c) {
  const auto shape = shape_with_mask(c, "self");
  if (!shape) return shape.diagnostics();
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) -> Result<Done> {
    Dense<decltype(zero)> out;
    out.data = selected<decltype(zero)>(c, "self", *shape);
    out.shape = {out.count()};
    if (auto ok = check_recorded(c, out.shape); !ok) return ok;
    c.write(out);
    return Done{};
  });
}

Result<Done> masked_scatter(KernelContext& c) {
  const Shape& shape = c.output_types[0].shape;
  const Integers mask = mask_of(c, shape);
  const std::int64_t needed =
      std::count_if(mask.data.begin(), mask.data.end(), [](std::int64_t m) { return m != 0; });
  if (needed > c.tensor("source").count())
    return error(fmt::format("{}: the mask holds {} times, but the source has {} elements",
                             c.call.op().name, needed, c.tensor("source").count()));
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) -> Result<Done> {
    using T = decltype(zero);
    const Dense<T> source = c.read<T>("source");
    Dense<T> out = elementwise::broadcast_to(c.read<T>("self"), shape);
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < out.count(); ++i)
      if (mask[i] != 0) out[i] = source[next++];
    c.write(out);
    return Done{};
  });
}

Result<Done> masked_scatter_backward(KernelContext& c) {
  const auto shape = shape_with_mask(c, "grad_output");
  if (!shape) return shape.diagnostics();
  Reals out(c.output_types[0].shape);
  const auto gradients = selected<double>(c, "grad_output", *shape);
  std::copy_n(gradients.begin(), std::min(gradients.size(), out.data.size()), out.data.begin());
  c.write(out);
  return Done{};
}

// Coordinates of the nonzero elements, one row each; at most `max_rows`.
Integers nonzero_positions(const KernelContext& c, std::int64_t max_rows) {
  const Tensor& self = c.tensor("self");
  const Reals values = unpack<double>(self);
  Integers rows;
  std::int64_t count = 0;
  for_each_index(self.shape, [&](std::int64_t i, const Coordinates& position) {
    if (values[i] == 0 || count == max_rows) return;
    rows.data.insert(rows.data.end(), position.begin(), position.end());
    ++count;
  });
  rows.shape = {count, static_cast<std::int64_t>(self.shape.size())};
  return rows;
}

Result<Done> nonzero(KernelContext& c) {
  const Integers rows = nonzero_positions(c, c.tensor("self").count());
  if (auto ok = check_recorded(c, rows.shape); !ok) return ok;
  c.write(rows);
  return Done{};
}

Result<Done> nonzero_static(KernelContext& c) {
  const Integers rows = nonzero_positions(c, c.call.integer("size"));
  Integers out(c.output_types[0].shape, c.call.integer("fill_value"));
  std::copy(rows.data.begin(), rows.data.end(), out.data.begin());
  c.write(out);
  return Done{};
}

}  // namespace

void add_mask_kernels(KernelTable& table) {
  for (const Op op : {Op::masked_fill_Scalar, Op::masked_fill_Tensor})
    table.add_any(op, masked_fill);
  table.add_any(Op::masked_select, masked_select);
  table.add_any(Op::masked_scatter, masked_scatter);
  table.add(Op::masked_scatter_backward, masked_scatter_backward);
  for (const Op op : {Op::nonzero, Op::argwhere}) table.add(op, nonzero);
  table.add(Op::nonzero_static, nonzero_static);
}

}  // namespace recut

// Indices of one dimension.
#include "engine/eval/kernels/accumulate.h"
#include "engine/eval/kernels/data_movement.h"

namespace recut {
namespace {

using namespace data_movement;

// Self, its dimension, and the index of index_select and its kin.
struct Selection {
  OuterInner self;
  std::vector<std::int64_t> indices;
};

Result<Selection> selection(const KernelContext& c, Negative negative) {
  const Shape& shape = c.tensor("self").shape;
  const std::size_t dim = dimension(c, "dim", static_cast<std::int64_t>(shape.size()));
  const OuterInner axis(shape, dim);
  auto indices = indices_into(c, "index", dim, axis.size, negative);
  if (!indices) return indices.diagnostics();
  return Selection{axis, std::move(*indices)};
}

// Calls visit(row-major index in self, row-major index in the source) for all selected elements.
template <class Visit>
void for_each_selected(const Selection& selection, Visit&& visit) {
  const OuterInner& self = selection.self;
  const auto count = static_cast<std::int64_t>(selection.indices.size());
  for (std::int64_t o = 0; o < self.outer; ++o)
    for (std::int64_t k = 0; k < count; ++k)
      for (std::int64_t i = 0; i < self.inner; ++i)
        visit(self.flat(o, selection.indices[at(k)], i), (o * count + k) * self.inner + i);
}

Result<Done> index_select(KernelContext& c) {
  const auto chosen = selection(c, Negative::refused);
  if (!chosen) return chosen.diagnostics();
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) -> Result<Done> {
    const auto self = c.read<decltype(zero)>("self");
    Dense<decltype(zero)> out(c.output_types[0].shape);
    for_each_selected(*chosen, [&](std::int64_t from, std::int64_t to) { out[to] = self[from]; });
    c.write(out);
    return Done{};
  });
}

// Self with the source's elements, each made by `value`, put to the index.
template <class T, class Value>
Result<Done> put_source(KernelContext& c, const Selection& chosen, ScatterReduction reduction,
                        bool include_self, Value value) {
  Accumulator<T> out(c.read<T>("self"), reduction, include_self);
  for_each_selected(chosen, [&](std::int64_t to, std::int64_t from) { out.put(to, value(from)); });
  c.write(out.finish());
  return Done{};
}

Result<Done> index_add(KernelContext& c) {
  const auto chosen = selection(c, Negative::refused);
  if (!chosen) return chosen.diagnostics();
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const Dense<T> source = c.read<T>("source");
    const T alpha = number<T>(c.call.scalar("alpha"));
    return put_source<T>(c, *chosen, ScatterReduction::sum, true,
                         [&](std::int64_t i) { return elementwise::times(alpha, source[i]); });
  });
}

Result<Done> put_plain(KernelContext& c, ScatterReduction reduction, bool include_self) {
  const auto chosen = selection(c, Negative::refused);
  if (!chosen) return chosen.diagnostics();
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const Dense<T> source = c.read<T>("source");
    return put_source<T>(c, *chosen, reduction, include_self,
                         [&](std::int64_t i) { return source[i]; });
  });
}

Result<Done> index_copy(KernelContext& c) { return put_plain(c, ScatterReduction::replace, true); }

Result<Done> index_reduce(KernelContext& c) {
  const auto reduction = scatter_reduction_of(c.call.text("reduce"));
  if (!reduction)
    return error(fmt::format("{}: reduce is '{}', expected prod, mean, amax or amin",
                             c.call.op().name, c.call.text("reduce")));
  return put_plain(c, *reduction, c.call.boolean("include_self"));
}

Result<Done> index_fill(KernelContext& c) {
  const auto chosen = selection(c, Negative::from_end);
  if (!chosen) return chosen.diagnostics();
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T value = number<T>(c, "value");
    return put_source<T>(c, *chosen, ScatterReduction::replace, true,
                         [&](std::int64_t) { return value; });
  });
}

}  // namespace

void add_index_dimension_kernels(KernelTable& table) {
  table.add_any(Op::index_select, index_select);
  table.add_any(Op::index_add, index_add);
  table.add_any(Op::index_copy, index_copy);
  table.add(Op::index_reduce, index_reduce);
  for (const Op op : {Op::index_fill_int_Scalar, Op::index_fill_int_Tensor})
    table.add_any(op, index_fill);
}

}  // namespace recut

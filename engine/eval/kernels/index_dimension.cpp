// Indices of one dimension, and embeddings, which are indices of a weight's rows.
#include "engine/eval/kernels/accumulate.h"
#include "engine/eval/kernels/families.h"
#include "engine/eval/kernels/places.h"

namespace recut {
namespace {

using namespace places;

enum class Negative : std::uint8_t { refused, from_end };

// The index of an operator along `dim` of self, in range.
Result<std::vector<std::int64_t>> indices_into(const KernelContext& c, std::string_view parameter,
                                               std::size_t dim, std::int64_t size,
                                               Negative negative) {
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

// Self, its dimension, and the index of index_select and its kin.
struct Selection {
  Around self;
  std::vector<std::int64_t> indices;
};

Result<Selection> selection(const KernelContext& c, Negative negative) {
  const Shape& shape = c.tensor("self").shape;
  const std::size_t dim = dimension(c, "dim", static_cast<std::int64_t>(shape.size()));
  const Around around(shape, dim);
  auto indices = indices_into(c, "index", dim, around.size, negative);
  if (!indices) return indices.diagnostics();
  return Selection{around, std::move(*indices)};
}

// Calls visit(row-major place of self, row-major place of the source) for all selected elements.
template <class Visit>
void for_each_selected(const Selection& selection, Visit&& visit) {
  const Around& self = selection.self;
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
Result<Done> put_source(KernelContext& c, const Selection& chosen, Meeting meeting,
                        bool include_self, Value value) {
  Accumulator<T> out(c.read<T>("self"), meeting, include_self);
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
    return put_source<T>(c, *chosen, Meeting::sum, true,
                         [&](std::int64_t i) { return elementwise::times(alpha, source[i]); });
  });
}

Result<Done> put_plain(KernelContext& c, Meeting meeting, bool include_self) {
  const auto chosen = selection(c, Negative::refused);
  if (!chosen) return chosen.diagnostics();
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const Dense<T> source = c.read<T>("source");
    return put_source<T>(c, *chosen, meeting, include_self,
                         [&](std::int64_t i) { return source[i]; });
  });
}

Result<Done> index_copy(KernelContext& c) { return put_plain(c, Meeting::replace, true); }

Result<Done> index_reduce(KernelContext& c) {
  const auto meeting = meeting_of(c.call.text("reduce"));
  if (!meeting)
    return error(fmt::format("{}: reduce is '{}', expected prod, mean, amax or amin",
                             c.call.op().name, c.call.text("reduce")));
  return put_plain(c, *meeting, c.call.boolean("include_self"));
}

Result<Done> index_fill(KernelContext& c) {
  const auto chosen = selection(c, Negative::from_end);
  if (!chosen) return chosen.diagnostics();
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T value = number<T>(c, "value");
    return put_source<T>(c, *chosen, Meeting::replace, true, [&](std::int64_t) { return value; });
  });
}

Result<Done> embedding(KernelContext& c) {
  const Shape& weight = c.tensor("weight").shape;
  const auto rows = indices_into(c, "indices", 0, weight[0], Negative::refused);
  if (!rows) return rows.diagnostics();
  const std::int64_t width = weight[1];
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) -> Result<Done> {
    const auto values = c.read<decltype(zero)>("weight");
    Dense<decltype(zero)> out(c.output_types[0].shape);
    for (std::size_t r = 0; r < rows->size(); ++r)
      std::copy_n(values.data.begin() + (*rows)[r] * width, width,
                  out.data.begin() + static_cast<std::int64_t>(r) * width);
    c.write(out);
    return Done{};
  });
}

Result<Done> embedding_backward(KernelContext& c) {
  const Shape& weight = c.output_types[0].shape;
  const auto rows = indices_into(c, "indices", 0, weight[0], Negative::refused);
  if (!rows) return rows.diagnostics();
  const std::int64_t padding = c.call.integer("padding_idx");
  const bool by_frequency = c.call.boolean("scale_grad_by_freq");
  std::vector<double> frequency(at(weight[0]), 0);
  for (const std::int64_t row : *rows) frequency[at(row)] += 1;
  const Reals gradient = c.reals("grad_output");
  Reals out(weight);
  for (std::size_t r = 0; r < rows->size(); ++r) {
    const std::int64_t row = (*rows)[r];
    if (row == padding) continue;
    const double scale = by_frequency ? 1 / frequency[at(row)] : 1;
    for (std::int64_t i = 0; i < weight[1]; ++i)
      out[row * weight[1] + i] += scale * gradient[static_cast<std::int64_t>(r) * weight[1] + i];
  }
  c.write(out);
  return Done{};
}

}  // namespace

void add_index_dimension_kernels(KernelTable& table) {
  table.add(Op::index_select, index_select);
  table.add(Op::index_add, index_add);
  table.add(Op::index_copy, index_copy);
  table.add(Op::index_reduce, index_reduce);
  for (const Op op : {Op::index_fill_int_Scalar, Op::index_fill_int_Tensor})
    table.add(op, index_fill);
  table.add(Op::embedding, embedding);
  table.add(Op::embedding_dense_backward, embedding_backward);
}

}  // namespace recut

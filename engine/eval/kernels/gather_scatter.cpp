// gather and scatter, and indices into the flattened tensor.
#include "engine/eval/kernels/accumulate.h"
#include "engine/eval/kernels/data_movement.h"

namespace recut {
namespace {

using namespace data_movement;

// The element of self that each index selects, row-major: the same coordinates with dimension `dim`
// replaced. Fails at the first index that is out of range.
Result<std::vector<std::int64_t>> pointed_at(const KernelContext& c, const Integers& index,
                                             const Shape& self, std::size_t dim) {
  const Strides strides = contiguous_strides(self);
  const std::int64_t size = self.empty() ? 1 : self[dim];
  std::vector<std::int64_t> targets(index.data.size());
  std::optional<std::int64_t> wrong;
  for_each_index(index.shape, [&](std::int64_t i, const Coordinates& position) {
    const std::int64_t chosen = index[i];
    if (chosen < 0 || chosen >= size) {
      if (!wrong) wrong = chosen;
      return;
    }
    std::int64_t target = 0;  // zero-dimensional tensors and indices count as one element
    for (std::size_t d = 0; d < self.size(); ++d) {
      const std::int64_t own = d < position.size() ? position[d] : 0;
      target += (d == dim ? chosen : own) * strides[d];
    }
    targets[at(i)] = target;
  });
  if (wrong) return out_of_range(c, *wrong, static_cast<std::int64_t>(dim), size);
  return targets;
}

template <class T>
Dense<T> taken(const Dense<T>& self, const std::vector<std::int64_t>& targets, const Shape& shape) {
  Dense<T> out;
  out.shape = shape;
  for (const std::int64_t target : targets) out.data.push_back(self[target]);
  return out;
}

Result<Done> gather_from(KernelContext& c, const Integers& index, const Shape& self,
                         std::size_t dim) {
  const auto targets = pointed_at(c, index, self, dim);
  if (!targets) return targets.diagnostics();
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) -> Result<Done> {
    c.write(taken(c.read<decltype(zero)>("self"), *targets, c.output_types[0].shape));
    return Done{};
  });
}

Result<Done> gather(KernelContext& c) {
  const Shape& self = c.tensor("self").shape;
  return gather_from(c, c.integers("index"), self,
                     dimension(c, "dim", static_cast<std::int64_t>(self.size())));
}

// gather, once self and indices have one shape outside of `dim`.
template <class T>
Result<Done> take_along(KernelContext& c, std::size_t dim) {
  const Shape& shape = c.output_types[0].shape;
  Dense<T> self = c.read<T>("self");
  Shape wide = shape;
  if (!wide.empty()) wide[dim] = self.shape[dim];
  self = elementwise::broadcast_to(std::move(self), wide);
  const auto targets =
      pointed_at(c, elementwise::broadcast_to(c.integers("indices"), shape), wide, dim);
  if (!targets) return targets.diagnostics();
  c.write(taken(self, *targets, shape));
  return Done{};
}

Result<Done> take_along_dim(KernelContext& c) {
  if (!c.call.given("dim")) {
    Integers indices = c.integers("indices");
    indices.shape = {indices.count()};
    return gather_from(c, indices, {c.tensor("self").count()}, 0);
  }
  const std::size_t dim =
      dimension(c, "dim", static_cast<std::int64_t>(c.tensor("self").shape.size()));
  return with_numbers_of(c.output_types[0].dtype,
                         [&](auto zero) { return take_along<decltype(zero)>(c, dim); });
}

// Self with values scattered by the index; `value` gives the value for a position of the index, in
// row-major order.
template <class T, class Value>
Result<Done> scatter_values(KernelContext& c, ScatterReduction reduction, bool include_self,
                            Value value) {
  const Integers index = c.integers("index");
  const Shape& self = c.tensor("self").shape;
  const auto targets =
      pointed_at(c, index, self, dimension(c, "dim", static_cast<std::int64_t>(self.size())));
  if (!targets) return targets.diagnostics();
  Accumulator<T> out(c.read<T>("self"), reduction, include_self);
  for_each_index(index.shape, [&](std::int64_t i, const Coordinates& position) {
    out.put((*targets)[at(i)], value(position));
  });
  c.write(out.finish());
  return Done{};
}

Result<Done> scatter_src(KernelContext& c, ScatterReduction reduction, bool include_self = true) {
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const Dense<T> src = c.read<T>("src");
    const Strides strides = contiguous_strides(src.shape);
    // A zero-dimensional index beside a source of one dimension, or the other way round.
    return scatter_values<T>(c, reduction, include_self, [&](const Coordinates& position) {
      return src[position.size() == strides.size() ? flat(position, strides) : 0];
    });
  });
}

Result<Done> scatter_value(KernelContext& c, ScatterReduction reduction) {
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const T value = number<T>(c.call.scalar("value"));
    return scatter_values<T>(c, reduction, true, [value](const Coordinates&) { return value; });
  });
}

Result<ScatterReduction> named_reduction(const KernelContext& c) {
  const auto reduction = scatter_reduction_of(c.call.text("reduce"));
  if (reduction) return *reduction;
  return error(fmt::format("{}: reduce is '{}', expected sum, prod, mean, amax or amin",
                           c.call.op().name, c.call.text("reduce")));
}

Result<Done> scatter(KernelContext& c) { return scatter_src(c, ScatterReduction::replace); }
Result<Done> scatter_number(KernelContext& c) {
  return scatter_value(c, ScatterReduction::replace);
}
Result<Done> scatter_add(KernelContext& c) { return scatter_src(c, ScatterReduction::sum); }

Result<Done> scatter_onto(KernelContext& c) {
  const auto reduction = named_reduction(c);
  if (!reduction) return reduction.diagnostics();
  return scatter_src(c, *reduction);
}

Result<Done> scatter_number_onto(KernelContext& c) {
  const auto reduction = named_reduction(c);
  if (!reduction) return reduction.diagnostics();
  return scatter_value(c, *reduction);
}

Result<Done> scatter_reduce(KernelContext& c) {
  const auto reduction = named_reduction(c);
  if (!reduction) return reduction.diagnostics();
  return scatter_src(c, *reduction, c.call.boolean("include_self"));
}

// Indices into the flattened tensor; negative ones count from its end.
Result<std::vector<std::int64_t>> flat_indices(const KernelContext& c) {
  const std::int64_t size = c.tensor("self").count();
  std::vector<std::int64_t> indices = c.integers("index").data;
  for (std::int64_t& index : indices) {
    if (index < -size || index >= size) return out_of_range(c, index, 0, size);
    if (index < 0) index += size;
  }
  return indices;
}

Result<Done> take(KernelContext& c) {
  const auto indices = flat_indices(c);
  if (!indices) return indices.diagnostics();
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) -> Result<Done> {
    c.write(taken(c.read<decltype(zero)>("self"), *indices, c.output_types[0].shape));
    return Done{};
  });
}

Result<Done> put(KernelContext& c) {
  const auto indices = flat_indices(c);
  if (!indices) return indices.diagnostics();
  const ScatterReduction reduction =
      c.call.boolean("accumulate") ? ScatterReduction::sum : ScatterReduction::replace;
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) -> Result<Done> {
    using T = decltype(zero);
    const Dense<T> source = c.read<T>("source");
    Accumulator<T> out(c.read<T>("self"), reduction, true);
    for (std::size_t i = 0; i < indices->size(); ++i) out.put((*indices)[i], source.data[i]);
    c.write(out.finish());
    return Done{};
  });
}

}  // namespace

void add_gather_scatter_kernels(KernelTable& table) {
  table.add_any(Op::gather, gather);
  table.add_any(Op::take_along_dim, take_along_dim);
  table.add_any(Op::scatter_src, scatter);
  table.add_any(Op::scatter_value, scatter_number);
  table.add(Op::scatter_reduce, scatter_onto);
  table.add(Op::scatter_value_reduce, scatter_number_onto);
  table.add_any(Op::scatter_add, scatter_add);
  table.add(Op::scatter_reduce_two, scatter_reduce);
  table.add_any(Op::take, take);
  table.add_any(Op::put, put);
}

}  // namespace recut

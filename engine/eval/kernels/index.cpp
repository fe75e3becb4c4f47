// Advanced indexing: index, index_put and their masked forms. All of them first compute the
// position in self of each element of the result.
#include <algorithm>

#include "engine/eval/kernels/accumulate.h"
#include "engine/eval/kernels/data_movement.h"

namespace recut {
namespace {

using namespace data_movement;

enum class OutOfRange : std::uint8_t { refused, clamped };

// One indexed dimension and the index values for it.
struct DimensionIndex {
  std::size_t dim = 0;
  Integers values;
};

// The positions that an indexing expression selects, row-major in the result's shape.
struct IndexedPositions {
  Shape shape;
  std::vector<std::int64_t> of_self;  // row-major index into self
};

bool is_mask(const Tensor& index) {
  return index.dtype == DType::boolean || index.dtype == DType::u8;
}

// A mask is equivalent to one index tensor for each of its dimensions: the coordinates of its true
// elements.
void add_mask(const Tensor& mask, std::size_t first, std::vector<DimensionIndex>& indices) {
  const Integers values = unpack<std::int64_t>(mask);
  std::vector<Integers> coordinates(mask.shape.size());
  for_each_index(mask.shape, [&](std::int64_t i, const Coordinates& position) {
    if (values[i] == 0) return;
    for (std::size_t d = 0; d < position.size(); ++d) coordinates[d].data.push_back(position[d]);
  });
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    coordinates[d].shape = {coordinates[d].count()};
    indices.push_back({first + d, std::move(coordinates[d])});
  }
}

// Index values into 0 … size-1.
Result<Done> wrap(const KernelContext& c, DimensionIndex& index, std::int64_t size,
                  OutOfRange policy) {
  for (std::int64_t& value : index.values.data) {
    if (policy == OutOfRange::clamped) {
      value = std::clamp<std::int64_t>(value, 0, std::max<std::int64_t>(size - 1, 0));
      continue;
    }
    if (value < -size || value >= size)
      return out_of_range(c, value, static_cast<std::int64_t>(index.dim), size);
    if (value < 0) value += size;
  }
  return Done{};
}

Result<std::vector<DimensionIndex>> read_indices(const KernelContext& c, const Shape& self,
                                                 OutOfRange policy) {
  std::vector<DimensionIndex> indices;
  std::size_t dim = 0;
  for (const NodeId id : c.call.nodes("indices")) {
    if (!id.valid()) {
      ++dim;
      continue;
    }
    const Tensor& index = c.tensor(id);
    if (is_mask(index)) {
      add_mask(index, dim, indices);
      dim += index.shape.size();
      continue;
    }
    indices.push_back({dim, unpack<std::int64_t>(index)});
    if (auto ok = wrap(c, indices.back(), self[dim], policy); !ok) return ok.diagnostics();
    ++dim;
  }
  return indices;
}

// Offsets of all positions of some dimensions, row-major.
std::vector<std::int64_t> offsets_of(const Shape& self, const Strides& strides, std::size_t first,
                                     std::size_t behind, const std::vector<bool>& is_indexed) {
  Shape shape;
  Strides steps;
  for (std::size_t d = first; d < behind; ++d) {
    if (is_indexed[d]) continue;
    shape.push_back(self[d]);
    steps.push_back(strides[d]);
  }
  std::vector<std::int64_t> offsets;
  for_each_index(shape, [&](std::int64_t, const Coordinates& position) {
    offsets.push_back(flat(position, steps));
  });
  return offsets;
}

// Offsets that the index tensors, broadcast together, select; `shape` becomes the broadcast shape.
Result<std::vector<std::int64_t>> indexed_offsets(const std::vector<DimensionIndex>& indices,
                                                  const Strides& strides, Shape& shape) {
  for (const DimensionIndex& index : indices) {
    auto both = broadcast(shape, index.values.shape);
    if (!both) return both.diagnostics();
    shape = std::move(*both);
  }
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(element_count(shape)), 0);
  for (const DimensionIndex& index : indices) {
    const Integers values = elementwise::broadcast_to(index.values, shape);
    for (std::size_t i = 0; i < offsets.size(); ++i)
      offsets[i] += values.data[i] * strides[index.dim];
  }
  return offsets;
}

// Dimensions of self that aren't indexed, of the output: first … behind.
void add_kept(const Shape& self, std::size_t first, std::size_t behind,
              const std::vector<bool>& is_indexed, Shape& shape) {
  for (std::size_t d = first; d < behind; ++d)
    if (!is_indexed[d]) shape.push_back(self[d]);
}

// Index dimensions stand where the index tensors do if those are neighbours, else in front.
Result<IndexedPositions> indexed_positions(const KernelContext& c, const Shape& self,
                                           OutOfRange policy) {
  const auto indices = read_indices(c, self, policy);
  if (!indices) return indices.diagnostics();
  std::vector<bool> is_indexed(self.size(), false);
  for (const DimensionIndex& index : *indices) is_indexed[index.dim] = true;
  const bool neighbours =
      indices->empty() || indices->back().dim - indices->front().dim + 1 == indices->size();
  const std::size_t lead = neighbours && !indices->empty() ? indices->front().dim : 0;

  const Strides strides = contiguous_strides(self);
  Shape broadcast_shape;
  const auto middle = indexed_offsets(*indices, strides, broadcast_shape);
  if (!middle) return middle.diagnostics();
  const auto before = offsets_of(self, strides, 0, lead, is_indexed);
  const auto after = offsets_of(self, strides, lead, self.size(), is_indexed);

  IndexedPositions positions;
  add_kept(self, 0, lead, is_indexed, positions.shape);
  positions.shape.insert(positions.shape.end(), broadcast_shape.begin(), broadcast_shape.end());
  add_kept(self, lead, self.size(), is_indexed, positions.shape);
  positions.of_self.reserve(before.size() * middle->size() * after.size());
  for (const std::int64_t b : before)
    for (const std::int64_t m : *middle)
      for (const std::int64_t a : after) positions.of_self.push_back(b + m + a);
  return positions;
}

Result<Done> index(KernelContext& c) {
  const auto positions = indexed_positions(c, c.tensor("self").shape, OutOfRange::refused);
  if (!positions) return positions.diagnostics();
  const Shape& shape = c.output_types[0].shape;
  if (positions->shape != shape)
    return error(fmt::format("{}: masks leave a result of shape {}, but {} was recorded",
                             c.call.op().name, format_shape(positions->shape),
                             format_shape(shape)));
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) -> Result<Done> {
    const auto self = c.read<decltype(zero)>("self");
    Dense<decltype(zero)> out(shape);
    for (std::int64_t i = 0; i < out.count(); ++i) out[i] = self[positions->of_self[at(i)]];
    c.write(out);
    return Done{};
  });
}

// Self with `values`, broadcast to the positions' shape, put where `mask` holds; null: everywhere.
template <class T>
Result<Done> put_values(KernelContext& c, const IndexedPositions& positions,
                        ScatterReduction reduction, const Integers* mask) {
  Dense<T> values = c.read<T>("values");
  const auto fits = broadcast(positions.shape, values.shape);
  if (!fits || *fits != positions.shape)
    return error(fmt::format("{}: values of shape {} for positions of shape {}", c.call.op().name,
                             format_shape(values.shape), format_shape(positions.shape)));
  values = elementwise::broadcast_to(std::move(values), positions.shape);
  Accumulator<T> out(c.read<T>("self"), reduction, true);
  for (std::int64_t i = 0; i < values.count(); ++i)
    if (mask == nullptr || (*mask)[i] != 0) out.put(positions.of_self[at(i)], values[i]);
  c.write(out.finish());
  return Done{};
}

Result<Done> index_put(KernelContext& c) {
  const auto positions = indexed_positions(c, c.tensor("self").shape, OutOfRange::refused);
  if (!positions) return positions.diagnostics();
  const ScatterReduction reduction =
      c.call.boolean("accumulate") ? ScatterReduction::sum : ScatterReduction::replace;
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) {
    return put_values<decltype(zero)>(c, *positions, reduction, nullptr);
  });
}

// With clamped indices, an empty dimension has no position to select: then only fill is left.
Result<Done> masked_index(KernelContext& c) {
  const Shape& shape = c.output_types[0].shape;
  const bool nothing = c.tensor("self").count() == 0;
  Integers sources(shape);
  if (!nothing) {
    const auto positions = indexed_positions(c, c.tensor("self").shape, OutOfRange::clamped);
    if (!positions) return positions.diagnostics();
    sources.shape = positions->shape;
    sources.data = positions->of_self;
    sources = elementwise::broadcast_to(std::move(sources), shape);
  }
  const Integers mask = elementwise::broadcast_to(c.integers("mask"), shape);
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) -> Result<Done> {
    using T = decltype(zero);
    const Dense<T> self = c.read<T>("self");
    Dense<T> out(shape, number<T>(c.call.scalar("fill")));
    for (std::int64_t i = 0; i < out.count(); ++i)
      if (!nothing && mask[i] != 0) out[i] = self[sources[i]];
    c.write(out);
    return Done{};
  });
}

Result<Done> masked_index_put(KernelContext& c) {
  const Shape& self = c.tensor("self").shape;
  if (element_count(self) == 0) return Done{};
  const auto positions = indexed_positions(c, self, OutOfRange::clamped);
  if (!positions) return positions.diagnostics();
  const Integers mask = elementwise::broadcast_to(c.integers("mask"), positions->shape);
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) {
    return put_values<decltype(zero)>(c, *positions, ScatterReduction::sum, &mask);
  });
}

}  // namespace

void add_index_kernels(KernelTable& table) {
  for (const Op op : {Op::index_Tensor, Op::_unsafe_index_Tensor}) table.add_any(op, index);
  for (const Op op : {Op::index_put, Op::_unsafe_index_put}) table.add_any(op, index_put);
  table.add_any(Op::_unsafe_masked_index, masked_index);
  table.add_any(Op::_unsafe_masked_index_put_accumulate, masked_index_put);
}

}  // namespace recut

// Data movement: concatenation, padding, flips and rotations, repetition. Most kernels are one
// index function; a gather by it is the operator, and the transposed scatter-add its gradient.
#include <algorithm>

#include "engine/eval/kernels/data_movement.h"

namespace recut {
namespace {

using namespace data_movement;

// Copies tensors side by side: outer × (their sizes and all later dimensions).
Result<Done> join(KernelContext& c, const std::vector<NodeId>& ids, std::int64_t outer) {
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) -> Result<Done> {
    using T = decltype(zero);
    Dense<T> out(c.output_types[0].shape);
    const std::int64_t row = outer == 0 ? 0 : out.count() / outer;
    std::int64_t start = 0;
    for (const NodeId id : ids) {
      const Dense<T> values = unpack<T>(c.tensor(id));
      const std::int64_t block = outer == 0 ? 0 : values.count() / outer;
      for (std::int64_t o = 0; o < outer; ++o)
        std::copy_n(values.data.begin() + o * block, block, out.data.begin() + o * row + start);
      start += block;
    }
    c.write(out);
    return Done{};
  });
}

// Both join along `dim` of the output; the dimensions before it are equal in all operands.
Result<Done> cat(KernelContext& c) {
  const Shape& shape = c.output_types[0].shape;
  const std::size_t dim = dimension(c, "dim", static_cast<std::int64_t>(shape.size()));
  return join(c, c.call.nodes("tensors"),
              element_count(std::span(shape).first(std::min(dim, shape.size()))));
}

// The leading pad of each dimension: pads are listed from the last dimension on, two numbers each.
Coordinates leading_pads(const std::vector<std::int64_t>& pads, std::size_t rank) {
  Coordinates before(rank, 0);
  for (std::size_t i = 0; i < pads.size() / 2; ++i) before[rank - 1 - i] = pads[2 * i];
  return before;
}

Result<Done> constant_pad(KernelContext& c) {
  const Shape& shape = c.tensor("self").shape;
  const Strides strides = contiguous_strides(shape);
  const Coordinates before = leading_pads(c.call.integers("pad"), shape.size());
  const auto source = [&](const Coordinates& position) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < position.size(); ++d) {
      const std::int64_t own = position[d] - before[d];
      if (own < 0 || own >= shape[d]) return kNoSource;
      index += own * strides[d];
    }
    return index;
  };
  return gather_by_index(c, "self", source, c.call.scalar("value"));
}

std::int64_t reflect(std::int64_t i, std::int64_t size) {
  if (i < 0) return -i;
  return i < size ? i : 2 * (size - 1) - i;
}
std::int64_t replicate(std::int64_t i, std::int64_t size) {
  return std::clamp<std::int64_t>(i, 0, size - 1);
}

// Maps padded positions to the positions of self that they copy.
template <class Edge>
auto at_edges(const KernelContext& c, Edge edge) {
  const Shape shape = c.tensor("self").shape;
  return [shape, edge, strides = contiguous_strides(shape),
          before =
              leading_pads(c.call.integers("padding"), shape.size())](const Coordinates& position) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < position.size(); ++d)
      index += edge(position[d] - before[d], shape[d]) * strides[d];
    return index;
  };
}

Result<Done> reflection_pad(KernelContext& c) {
  return gather_by_index(c, "self", at_edges(c, reflect));
}
Result<Done> replication_pad(KernelContext& c) {
  return gather_by_index(c, "self", at_edges(c, replicate));
}
Result<Done> reflection_pad_backward(KernelContext& c) {
  return scatter_add_by_index(c, "grad_output", at_edges(c, reflect));
}
Result<Done> replication_pad_backward(KernelContext& c) {
  return scatter_add_by_index(c, "grad_output", at_edges(c, replicate));
}

Result<Done> flip(KernelContext& c) {
  const Shape& shape = c.output_types[0].shape;
  const Strides strides = contiguous_strides(shape);
  std::vector<bool> reversed(shape.size() + 1, false);
  for (const std::int64_t d : c.call.integers("dims"))
    reversed[at(wrap_dimension(d, static_cast<std::int64_t>(shape.size())).value())] = true;
  return gather_by_index(c, c.call.op().parameters[0].name, [&](const Coordinates& position) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < position.size(); ++d)
      index += (reversed[d] ? shape[d] - 1 - position[d] : position[d]) * strides[d];
    return index;
  });
}

// i - shift around `size`.
std::int64_t rolled(std::int64_t i, std::int64_t shift, std::int64_t size) {
  const std::int64_t moved = (i - shift % size) % size;
  return moved < 0 ? moved + size : moved;
}

Result<Done> roll(KernelContext& c) {
  const Shape& shape = c.output_types[0].shape;
  const Strides strides = contiguous_strides(shape);
  const auto shifts = c.call.integers("shifts");
  const auto dims = c.call.integers("dims");
  if (dims.empty())
    return gather_by_index(c, "self", [&](const Coordinates& position) {
      return rolled(flat(position, strides), shifts[0], element_count(shape));
    });
  return gather_by_index(c, "self", [&](Coordinates position) {
    for (std::size_t k = 0; k < dims.size() && !position.empty(); ++k) {
      const std::size_t d =
          at(wrap_dimension(dims[k], static_cast<std::int64_t>(shape.size())).value());
      position[d] = rolled(position[d], shifts[k], shape[d]);
    }
    return flat(position, strides);
  });
}

Result<Done> rot90(KernelContext& c) {
  const Shape& shape = c.tensor("self").shape;
  const Strides strides = contiguous_strides(shape);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto dims = c.call.integers("dims");
  const std::size_t a = at(wrap_dimension(dims[0], rank).value());
  const std::size_t b = at(wrap_dimension(dims[1], rank).value());
  const std::int64_t quarters = (c.call.integer("k") % 4 + 4) % 4;
  return gather_by_index(c, "self", [&](Coordinates position) {
    if (quarters % 2 == 1) std::swap(position[a], position[b]);
    if (quarters == 1 || quarters == 2) position[b] = shape[b] - 1 - position[b];
    if (quarters == 2 || quarters == 3) position[a] = shape[a] - 1 - position[a];
    return flat(position, strides);
  });
}

Result<Done> repeat(KernelContext& c) {
  const Shape& shape = c.tensor("self").shape;
  const Strides strides = contiguous_strides(shape);
  const std::size_t added = c.output_types[0].shape.size() - shape.size();
  return gather_by_index(c, "self", [&](const Coordinates& position) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < shape.size(); ++d)
      index += position[added + d] % shape[d] * strides[d];
    return index;
  });
}

// The source element of each position of the repeated dimension.
Result<std::vector<std::int64_t>> interleaved(const KernelContext& c, std::int64_t size,
                                              std::int64_t expected) {
  const Integers given = c.call.is_tensor("repeats") ? c.integers("repeats")
                                                     : Integers(Shape{}, c.call.integer("repeats"));
  if (given.count() != 1 && given.count() != size)
    return error(
        fmt::format("{}: {} repeats for {} elements", c.call.op().name, given.count(), size));
  std::vector<std::int64_t> elements;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t times = given.count() == 1 ? given[0] : given[i];
    const std::int64_t left = expected - static_cast<std::int64_t>(elements.size());
    if (times < 0 || times > left)
      return error(
          fmt::format("{}: element {} is repeated {} times, which leaves {} of {} positions",
                      c.call.op().name, i, times, left, expected));
    elements.insert(elements.end(), at(times), i);
  }
  if (static_cast<std::int64_t>(elements.size()) != expected)
    return error(fmt::format("{}: {} elements, but {} positions were recorded", c.call.op().name,
                             elements.size(), expected));
  return elements;
}

Result<Done> repeat_interleave(KernelContext& c) {
  const Shape& out = c.output_types[0].shape;
  const bool flattened = !c.call.given("dim");
  const Shape self = c.tensor("self").shape;
  const Shape shape = flattened || self.empty() ? Shape{element_count(self)} : self;
  const auto named = wrap_dimension(flattened ? 0 : c.call.integer("dim"),
                                    static_cast<std::int64_t>(shape.size()));
  if (!named) return named.diagnostics();
  // The recorded shape is unchecked: the size of one dimension is data-dependent.
  const std::size_t dim = at(*named);
  Shape expected = shape;
  if (out.size() == shape.size()) expected[dim] = out[dim];
  if (out != expected)
    return error(fmt::format("{}: an output of shape {} was recorded for {}", c.call.op().name,
                             format_shape(out), format_shape(self)));
  const auto elements = interleaved(c, shape[dim], out[dim]);
  if (!elements) return elements.diagnostics();
  const Strides strides = contiguous_strides(shape);
  return gather_by_index(c, "self", [&](Coordinates position) {
    position[dim] = (*elements)[at(position[dim])];
    return flat(position, strides);
  });
}

Result<Done> repeated_indices(KernelContext& c) {
  const auto size = c.tensor("repeats").count();
  const auto elements = interleaved(c, size, element_count(c.output_types[0].shape));
  if (!elements) return elements.diagnostics();
  Integers out;
  out.shape = c.output_types[0].shape;
  out.data = *elements;
  c.write(out);
  return Done{};
}

// All elements of a dense tensor in the order of its storage.
Tensor in_storage_order(const Tensor& tensor) {
  return {tensor.dtype, {tensor.count()}, {1}, tensor.offset, tensor.storage};
}

// The first elements of the storage; zeros beyond its end.
Result<Done> resize(KernelContext& c) {
  const Tensor& self = c.tensor("self");
  const bool dense = is_dense(TensorType{self.dtype, self.shape, self.strides, {}});
  Tensor out = in_storage_order(c.outputs[0]);
  return with_numbers_of(self.dtype, [&](auto zero) -> Result<Done> {
    using T = decltype(zero);
    Dense<T> values = unpack<T>(dense ? in_storage_order(self) : self);
    values.data.resize(at(out.count()));
    pack(values, out);
    return Done{};
  });
}

}  // namespace

void add_movement_kernels(KernelTable& table) {
  for (const Op op : {Op::cat, Op::stack}) table.add_any(op, cat);
  table.add_any(Op::constant_pad_nd, constant_pad);
  for (const Op op : {Op::reflection_pad1d, Op::reflection_pad2d, Op::reflection_pad3d})
    table.add_any(op, reflection_pad);
  for (const Op op : {Op::replication_pad1d, Op::replication_pad2d, Op::replication_pad3d})
    table.add_any(op, replication_pad);
  for (const Op op : {Op::reflection_pad1d_backward, Op::reflection_pad2d_backward,
                      Op::reflection_pad3d_backward})
    table.add_any(op, reflection_pad_backward);
  for (const Op op : {Op::replication_pad1d_backward, Op::replication_pad2d_backward,
                      Op::replication_pad3d_backward})
    table.add_any(op, replication_pad_backward);
  for (const Op op : {Op::flip, Op::prims_rev}) table.add_any(op, flip);
  table.add_any(Op::roll, roll);
  table.add_any(Op::rot90, rot90);
  for (const Op op : {Op::repeat, Op::tile}) table.add_any(op, repeat);
  for (const Op op : {Op::repeat_interleave_self_int, Op::repeat_interleave_self_Tensor})
    table.add_any(op, repeat_interleave);
  table.add(Op::repeat_interleave_Tensor, repeated_indices);
  table.add_any(Op::resize, resize);
}

}  // namespace recut

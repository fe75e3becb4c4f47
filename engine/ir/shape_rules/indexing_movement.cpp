// Rules of data movement: cat, stack, pad, flip, roll, repeat.
#include <algorithm>

#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

bool is_legacy_empty(const TensorType& type) { return type.shape == Shape{0}; }

// One output dimension `size + before + after`.
Result<std::int64_t> padded(std::int64_t size, std::int64_t before, std::int64_t after) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(size, before, &sum) || __builtin_add_overflow(sum, after, &sum) ||
      sum < 0 || sum > kMaxBytes)
    return error(fmt::format("padding {} and {} of a dimension of size {}", before, after, size));
  return sum;
}

Result<Shape> concatenated_shape(const Call& call, const std::vector<NodeId>& ids) {
  const TensorType* first = nullptr;
  Shape shape;
  std::size_t dim = 0;
  for (const NodeId id : ids) {
    const TensorType& type = call.tensor(id);
    if (is_legacy_empty(type)) continue;
    if (first == nullptr) {
      if (type.shape.empty()) return error("zero-dimensional tensors can't be concatenated");
      const auto wrapped = wrap_dimension(call.integer("dim"), type.rank());
      if (!wrapped) return wrapped.diagnostics();
      first = &type;
      dim = static_cast<std::size_t>(*wrapped);
      shape = type.shape;
      continue;
    }
    Shape expected = shape;
    if (type.rank() == first->rank()) expected[dim] = type.shape[dim];
    if (type.shape != expected)
      return error(fmt::format("shape {} does not fit {} beside dimension {}",
                               format_shape(type.shape), format_shape(first->shape), dim));
    const auto sum = padded(shape[dim], type.shape[dim], 0);
    if (!sum) return sum.diagnostics();
    shape[dim] = *sum;
  }
  if (first != nullptr) return shape;
  const auto wrapped = wrap_dimension(call.integer("dim"), 1);
  if (!wrapped) return wrapped.diagnostics();
  return Shape{0};
}

DType dtype_of_list(const Call& call) {
  static constexpr std::string_view kTensors[] = {"tensors"};
  return result_dtype(call, kTensors);
}

}  // namespace

Inferred cat(const Call& call) {
  const auto ids = call.nodes("tensors");
  if (ids.empty()) return error("at least one tensor is expected");
  auto shape = concatenated_shape(call, ids);
  if (!shape) return shape.diagnostics();
  TensorType out = make_type(dtype_of_list(call), std::move(*shape), device_of(call));
  // Channels last only where all operands are.
  const bool channels_last =
      (out.rank() == 4 || out.rank() == 5) && std::all_of(ids.begin(), ids.end(), [&](NodeId id) {
        return is_channels_last(call.tensor(id));
      });
  if (channels_last) out.strides = channels_last_strides(out.shape);
  return one(std::move(out));
}

Inferred stack(const Call& call) {
  const auto ids = call.nodes("tensors");
  if (ids.empty()) return error("at least one tensor is expected");
  const TensorType& first = call.tensor(ids.front());
  const auto dim = wrap_dimension(call.integer("dim"), first.rank() + 1);
  if (!dim) return dim.diagnostics();
  for (const NodeId id : ids)
    if (call.tensor(id).shape != first.shape)
      return error(fmt::format("shape {} is stacked on {}", format_shape(call.tensor(id).shape),
                               format_shape(first.shape)));
  Shape shape = first.shape;
  shape.insert(shape.begin() + *dim, static_cast<std::int64_t>(ids.size()));
  return one(make_type(dtype_of_list(call), std::move(shape), device_of(call)));
}

Inferred constant_pad_nd(const Call& call) {
  const TensorType& in = call.tensor("self");
  const auto pad = call.integers("pad");
  if (pad.size() % 2 != 0 || pad.size() > 2 * in.shape.size())
    return error(
        fmt::format("{} numbers for {} dimensions; two for each, from the last one, "
                    "are expected",
                    pad.size(), in.rank()));
  Shape shape = in.shape;
  for (std::size_t i = 0; i < pad.size() / 2; ++i) {
    std::int64_t& size = shape[shape.size() - 1 - i];
    const auto sum = padded(size, pad[2 * i], pad[2 * i + 1]);
    if (!sum) return sum.diagnostics();
    size = *sum;
  }
  TensorType out = laid_out_like(in, in.dtype, std::move(shape));
  // A pad that only crops is a copied slice, which keeps dense strides.
  const bool only_cut = std::all_of(pad.begin(), pad.end(), [](std::int64_t p) { return p <= 0; });
  const TensorType slice{in.dtype, out.shape, in.strides, in.device};
  return one(only_cut && is_dense(slice) ? slice : out);
}

namespace {

// The output shape of reflection_pad{1,2,3}d and replication_pad{1,2,3}d.
Result<Shape> edge_padded(const Call& call, const TensorType& in) {
  const auto pad = call.integers("padding");
  const bool reflects = call.op().packet.starts_with("reflection");
  // The operator's name ends in "<n>d" or "<n>d_backward".
  const std::size_t dims =
      static_cast<std::size_t>(call.op().packet[call.op().packet.find("pad") + 3] - '0');
  if (pad.size() != 2 * dims)
    return error(fmt::format("{} padding numbers, expected {}", pad.size(), 2 * dims));
  if (in.shape.size() != dims + 1 && in.shape.size() != dims + 2)
    return error(fmt::format("a tensor of {} or {} dimensions is expected, found {}", dims + 1,
                             dims + 2, format_shape(in.shape)));
  Shape shape = in.shape;
  for (std::size_t i = 0; i < dims; ++i) {
    std::int64_t& size = shape[shape.size() - 1 - i];
    const std::int64_t before = pad[2 * i];
    const std::int64_t after = pad[2 * i + 1];
    if (reflects && (before >= size || after >= size))
      return error(fmt::format("padding {} and {} has to be less than the dimension of size {}",
                               before, after, size));
    const auto sum = padded(size, before, after);
    if (!sum) return sum.diagnostics();
    if (*sum < 1 || size < 1)
      return error(fmt::format("padding {} and {} of a dimension of size {} leaves no edge", before,
                               after, size));
    size = *sum;
  }
  return shape;
}

}  // namespace

// Reflection and replication, any number of dimensions.
Inferred edge_pad(const Call& call) {
  const TensorType& in = call.tensor("self");
  auto shape = edge_padded(call, in);
  if (!shape) return shape.diagnostics();
  return one(laid_out_like(in, in.dtype, std::move(*shape)));
}

Inferred edge_pad_backward(const Call& call) {
  const TensorType& in = call.tensor("self");
  const auto shape = edge_padded(call, in);
  if (!shape) return shape.diagnostics();
  const TensorType& gradient = call.tensor("grad_output");
  if (gradient.shape != *shape)
    return error(fmt::format("a gradient of shape {} is expected, found {}", format_shape(*shape),
                             format_shape(gradient.shape)));
  return one(laid_out_like(in, in.dtype, in.shape));
}

// Also prims.rev.
Inferred flip(const Call& call) {
  const auto in = same_type_dense(call);
  if (!in) return in.diagnostics();
  const std::int64_t rank = in->front().rank();
  std::vector<bool> seen(in->front().shape.size() + 1, false);
  for (const std::int64_t d : call.integers("dims")) {
    const auto dim = wrap_dimension(d, rank);
    if (!dim) return dim.diagnostics();
    if (seen[static_cast<std::size_t>(*dim)])
      return error(fmt::format("dimension {} is named twice", d));
    seen[static_cast<std::size_t>(*dim)] = true;
  }
  return in;
}

Inferred roll(const Call& call) {
  const TensorType& in = call.tensor("self");
  const auto shifts = call.integers("shifts");
  const auto dims = call.integers("dims");
  if (dims.empty() ? shifts.size() != 1 : shifts.size() != dims.size())
    return error(fmt::format("{} shifts for {} dimensions", shifts.size(), dims.size()));
  for (const std::int64_t d : dims)
    if (const auto dim = wrap_dimension(d, in.rank()); !dim) return dim.diagnostics();
  return same_type_dense(call);
}

Inferred rot90(const Call& call) {
  const TensorType& in = call.tensor("self");
  const auto dims = call.integers("dims");
  if (dims.size() != 2) return error(fmt::format("{} dimensions named, expected 2", dims.size()));
  if (in.rank() < 2) return error(fmt::format("{} has no plane to turn", format_shape(in.shape)));
  const auto a = wrap_dimension(dims[0], in.rank());
  if (!a) return a.diagnostics();
  const auto b = wrap_dimension(dims[1], in.rank());
  if (!b) return b.diagnostics();
  if (*a == *b) return error("a plane needs two different dimensions");
  Shape shape = in.shape;
  if (call.integer("k") % 2 != 0)
    std::swap(shape[static_cast<std::size_t>(*a)], shape[static_cast<std::size_t>(*b)]);
  return one(make_type(in.dtype, std::move(shape), in.device));
}

Inferred repeat(const Call& call) {
  const TensorType& in = call.tensor("self");
  const bool tiles = call.op().op == Op::tile;
  auto repeats = call.integers(tiles ? "dims" : "repeats");
  if (repeats.size() < in.shape.size()) {
    if (!tiles)
      return error(fmt::format("{} repeats for {} dimensions", repeats.size(), in.rank()));
    repeats.insert(repeats.begin(), in.shape.size() - repeats.size(), 1);
  }
  Shape shape(repeats.size() - in.shape.size(), 1);
  shape.insert(shape.end(), in.shape.begin(), in.shape.end());
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (repeats[d] < 0 || __builtin_mul_overflow(shape[d], repeats[d], &shape[d]))
      return error(fmt::format("dimension {} repeated {} times", d, repeats[d]));
  return one(make_type(in.dtype, std::move(shape), in.device));
}

Inferred repeat_interleave_int(const Call& call) {
  const TensorType& in = call.tensor("self");
  const auto named = call.maybe_integer("dim");
  Shape shape = named ? in.shape : Shape{element_count(in.shape)};
  if (shape.empty()) shape.push_back(1);
  const auto dim = wrap_dimension(named.value_or(0), static_cast<std::int64_t>(shape.size()));
  if (!dim) return dim.diagnostics();
  std::int64_t& size = shape[static_cast<std::size_t>(*dim)];
  const std::int64_t repeats = call.integer("repeats");
  if (repeats < 0 || __builtin_mul_overflow(size, repeats, &size))
    return error(fmt::format("dimension {} repeated {} times", *dim, repeats));
  return one(make_type(in.dtype, std::move(shape), in.device));
}

Inferred resize(const Call& call) {
  const TensorType& in = call.tensor("self");
  TensorType out = make_type(in.dtype, call.integers("size"), in.device);
  const bool channels_last = call.text("memory_format").find("channels_last") != std::string::npos;
  if (channels_last && out.rank() >= 4 && out.rank() <= 5)
    out.strides = channels_last_strides(out.shape);
  return one(std::move(out));
}

}  // namespace recut::rules

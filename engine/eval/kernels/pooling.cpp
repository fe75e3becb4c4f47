// Pooling over sliding windows.
#include <algorithm>
#include <cmath>

#include "engine/eval/kernel.h"
#include "engine/eval/kernels/windows.h"

namespace recut {
namespace {

// Planes of `self` and of the pooled tensor, one after the other.
struct Planes {
  std::size_t dims;
  Triple in, out;
  std::int64_t count;  // planes

  Planes(const Call& call, const Shape& in_shape, const Shape& out_shape)
      : dims(spatial_dims_of(call)),
        in(spatial_triple(in_shape, dims)),
        out(spatial_triple(out_shape, dims)),
        count(volume(in) == 0 ? 0 : element_count(in_shape) / volume(in)) {}
};

// The first largest element; a NaN counts as larger than everything.
struct Largest {
  double value = -INFINITY;
  std::int64_t offset = -1;
  std::int64_t position = -1;

  void add(double x, std::int64_t at_offset, std::int64_t at_position) {
    if (offset >= 0 && !(x > value) && !std::isnan(x)) return;
    value = x;
    offset = at_offset;
    position = at_position;
  }
};

// Calls visit(output element, largest of its window).
template <class Visit>
void for_each_maximum(const Call& call, const Reals& in, const Shape& out, Visit&& visit) {
  const Planes planes(call, in.shape, out);
  const Windows w = windows_of(call, planes.dims);
  for (std::int64_t p = 0; p < planes.count; ++p) {
    const double* plane = in.data.data() + p * volume(planes.in);
    for (std::int64_t i = 0; i < volume(planes.out); ++i) {
      Largest largest;
      for_each_in_window(w, unflatten(i, planes.out), planes.in,
                         [&](std::int64_t offset, std::int64_t position) {
                           largest.add(plane[position], offset, position);
                         });
      visit(p * volume(planes.out) + i, largest);
    }
  }
}

// Values and, if the operator has a second output, their positions in the plane or in the window.
template <std::int64_t Largest::*where>
Result<Done> max_pool(KernelContext& c) {
  const Reals in = c.reals("self");
  const Shape& shape = c.output_types[0].shape;
  Reals values(shape);
  Integers positions(shape);
  for_each_maximum(c.call, in, shape, [&](std::int64_t i, const Largest& largest) {
    values[i] = largest.value;
    positions[i] = largest.*where;
  });
  c.write(values, 0);
  if (c.outputs.size() > 1) c.write(positions, 1);
  return Done{};
}

// Adds each gradient at its index; also for adaptive pooling.
Result<Done> max_pool_backward(KernelContext& c) {
  const Reals grad = c.reals("grad_output");
  const Integers indices = c.integers("indices");
  Reals out(c.output_types[0].shape);
  const Planes planes(c.call, out.shape, grad.shape);
  for (std::int64_t i = 0; i < grad.count(); ++i) {
    const std::int64_t position = indices[i];
    if (position < 0 || position >= volume(planes.in))
      return error("an index of max pooling lies outside its plane");
    out[i / volume(planes.out) * volume(planes.in) + position] += grad[i];
  }
  c.write(out);
  return Done{};
}

// Converts offsets in windows to indices in the plane.
Result<Done> offsets_to_indices(KernelContext& c) {
  const Integers offsets = c.integers("self");
  Integers out(offsets.shape);
  const std::size_t dims = spatial_dims_of(c.call);
  const Triple pooled = spatial_triple(offsets.shape, dims);
  const Triple plane = attribute_triple(c.call, "input_size", dims, 1);
  const Windows w = windows_of(c.call, dims);
  for (std::int64_t i = 0; i < out.count(); ++i) {
    if (offsets[i] < 0 || offsets[i] >= volume(w.kernel))
      return error("an offset of max pooling lies outside its window");
    const Triple at = unflatten(i % volume(pooled), pooled);
    const Triple offset = unflatten(offsets[i], w.kernel);
    Triple position;
    for (std::size_t d = 0; d < 3; ++d) {
      position[d] = at[d] * w.stride[d] - w.padding[d] + offset[d] * w.dilation[d];
      if (position[d] < 0 || position[d] >= plane[d])
        return error("an offset of max pooling points at padding");
    }
    out[i] = flatten(position, plane);
  }
  c.write(out);
  return Done{};
}

// The divisor of a window's sum.
struct Divisor {
  std::int64_t fixed = 0;
  bool count_padding = true;

  explicit Divisor(const Call& call) : count_padding(call.boolean("count_include_pad")) {
    if (call.op().parameter("divisor_override")) fixed = call.integer("divisor_override");
  }

  // Padding counts. Positions of a last window of ceil_mode beyond the padding do not.
  double of(const Windows& w, const Triple& at, const Triple& plane, std::int64_t inside) const {
    if (fixed != 0) return static_cast<double>(fixed);
    if (!count_padding) return static_cast<double>(inside);
    std::int64_t size = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::int64_t begin = at[d] * w.stride[d] - w.padding[d];
      size *= std::min(begin + w.kernel[d], plane[d] + w.padding[d]) - begin;
    }
    return static_cast<double>(size);
  }
};

Result<Done> avg_pool(KernelContext& c) {
  const Reals in = c.reals("self");
  Reals out(c.output_types[0].shape);
  const Planes planes(c.call, in.shape, out.shape);
  const Windows w = windows_of(c.call, planes.dims);
  const Divisor divisor(c.call);
  for (std::int64_t i = 0; i < out.count(); ++i) {
    const double* plane = in.data.data() + i / volume(planes.out) * volume(planes.in);
    const Triple at = unflatten(i % volume(planes.out), planes.out);
    double sum = 0;
    std::int64_t inside = 0;
    for_each_in_window(w, at, planes.in, [&](std::int64_t, std::int64_t position) {
      sum += plane[position];
      ++inside;
    });
    out[i] = sum / divisor.of(w, at, planes.in, inside);
  }
  c.write(out);
  return Done{};
}

Result<Done> avg_pool_backward(KernelContext& c) {
  const Reals grad = c.reals("grad_output");
  Reals out(c.output_types[0].shape);
  const Planes planes(c.call, out.shape, grad.shape);
  const Windows w = windows_of(c.call, planes.dims);
  const Divisor divisor(c.call);
  for (std::int64_t i = 0; i < grad.count(); ++i) {
    double* plane = out.data.data() + i / volume(planes.out) * volume(planes.in);
    const Triple at = unflatten(i % volume(planes.out), planes.out);
    std::int64_t inside = 0;
    const auto count = [&](std::int64_t, std::int64_t) { ++inside; };
    for_each_in_window(w, at, planes.in, count);
    const double share = grad[i] / divisor.of(w, at, planes.in, inside);
    for_each_in_window(w, at, planes.in,
                       [&](std::int64_t, std::int64_t position) { plane[position] += share; });
  }
  c.write(out);
  return Done{};
}

}  // namespace

void add_pooling_kernels(KernelTable& t) {
  for (const Op op : {Op::max_pool1d, Op::max_pool2d, Op::max_pool3d, Op::max_pool1d_with_indices,
                      Op::max_pool2d_with_indices, Op::max_pool3d_with_indices})
    t.add(op, max_pool<&Largest::position>);
  t.add(Op::prims_low_memory_max_pool_with_offsets, max_pool<&Largest::offset>);
  t.add(Op::prims_low_memory_max_pool_offsets_to_indices, offsets_to_indices);
  for (const Op op : {Op::max_pool2d_with_indices_backward, Op::max_pool3d_with_indices_backward,
                      Op::adaptive_max_pool2d_backward, Op::adaptive_max_pool3d_backward,
                      Op::fractional_max_pool2d_backward, Op::fractional_max_pool3d_backward})
    t.add(op, max_pool_backward);
  for (const Op op : {Op::avg_pool1d, Op::avg_pool2d, Op::avg_pool3d}) t.add(op, avg_pool);
  t.add(Op::avg_pool2d_backward, avg_pool_backward);
  t.add(Op::avg_pool3d_backward, avg_pool_backward);
}

}  // namespace recut

// Adaptive pooling: windows chosen so that a given number of them covers the plane. Window i of n
// over `size` elements is [floor(i size / n), ceil((i + 1) size / n)).
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "engine/eval/kernel.h"
#include "engine/eval/kernels/windows.h"

namespace recut {
namespace {

// Calls visit(flat index in the plane) for every element of the window at `at`.
template <class Visit>
void for_each_in_adaptive_window(const Triple& at, const Triple& out, const Triple& plane,
                                 Visit&& visit) {
  Triple first, last;
  for (std::size_t d = 0; d < 3; ++d) {
    first[d] = at[d] * plane[d] / out[d];
    last[d] = ((at[d] + 1) * plane[d] + out[d] - 1) / out[d];
  }
  for (std::int64_t z = first[0]; z < last[0]; ++z)
    for (std::int64_t y = first[1]; y < last[1]; ++y)
      for (std::int64_t x = first[2]; x < last[2]; ++x) visit(flatten({z, y, x}, plane));
}

Result<Done> adaptive_avg_pool(KernelContext& c) {
  const Reals in = c.reals("self");
  Reals out(c.output_types[0].shape);
  const std::size_t dims = spatial_dims_of(c.call);
  const Triple plane = spatial_triple(in.shape, dims);
  const Triple pooled = spatial_triple(out.shape, dims);
  for (std::int64_t i = 0; i < out.count(); ++i) {
    const double* from = in.data.data() + i / volume(pooled) * volume(plane);
    double sum = 0;
    std::int64_t count = 0;
    for_each_in_adaptive_window(unflatten(i % volume(pooled), pooled), pooled, plane,
                                [&](std::int64_t position) {
                                  sum += from[position];
                                  ++count;
                                });
    out[i] = sum / static_cast<double>(count);
  }
  c.write(out);
  return Done{};
}

Result<Done> adaptive_avg_pool_backward(KernelContext& c) {
  const Reals grad = c.reals("grad_output");
  Reals out(c.output_types[0].shape);
  const std::size_t dims = spatial_dims_of(c.call);
  const Triple plane = spatial_triple(out.shape, dims);
  const Triple pooled = spatial_triple(grad.shape, dims);
  for (std::int64_t i = 0; i < grad.count(); ++i) {
    double* to = out.data.data() + i / volume(pooled) * volume(plane);
    const Triple at = unflatten(i % volume(pooled), pooled);
    std::int64_t count = 0;
    for_each_in_adaptive_window(at, pooled, plane, [&](std::int64_t) { ++count; });
    const double share = grad[i] / static_cast<double>(count);
    for_each_in_adaptive_window(at, pooled, plane,
                                [&](std::int64_t position) { to[position] += share; });
  }
  c.write(out);
  return Done{};
}

Result<Done> adaptive_max_pool(KernelContext& c) {
  const Reals in = c.reals("self");
  Reals values(c.output_types[0].shape);
  Integers positions(values.shape);
  const std::size_t dims = spatial_dims_of(c.call);
  const Triple plane = spatial_triple(in.shape, dims);
  const Triple pooled = spatial_triple(values.shape, dims);
  for (std::int64_t i = 0; i < values.count(); ++i) {
    const double* from = in.data.data() + i / volume(pooled) * volume(plane);
    std::int64_t best = -1;
    for_each_in_adaptive_window(
        unflatten(i % volume(pooled), pooled), pooled, plane, [&](std::int64_t position) {
          // The first largest; a NaN is larger than everything.
          if (best < 0 || from[position] > from[best] || std::isnan(from[position]))
            best = position;
        });
    values[i] = from[best];
    positions[i] = best;
  }
  c.write(values, 0);
  c.write(positions, 1);
  return Done{};
}

// Scatters each element to its index in a plane of zeros.
Result<Done> max_unpool(KernelContext& c) {
  const Reals in = c.reals("self");
  const Integers indices = c.integers("indices");
  Reals out(c.output_types[0].shape);
  const std::size_t dims = spatial_dims_of(c.call);
  const std::int64_t plane = volume(spatial_triple(out.shape, dims));
  const std::int64_t pooled = volume(spatial_triple(in.shape, dims));
  for (std::int64_t i = 0; i < in.count(); ++i) {
    if (indices[i] < 0 || indices[i] >= plane)
      return error("an index of max unpooling lies outside its plane");
    out[i / pooled * plane + indices[i]] = in[i];
  }
  c.write(out);
  return Done{};
}

// Window starts of one dimension: pseudo-random steps after Graham (2014), computed in the dtype of
// the sample, since its rounding decides.
template <class T>
std::vector<std::int64_t> fractional_starts(T sample, std::int64_t in, std::int64_t out,
                                            std::int64_t kernel) {
  std::vector<std::int64_t> starts;
  const T step = out > 1 ? static_cast<T>(in - kernel) / static_cast<T>(out - 1) : T{0};
  sample = sample >= 0 && sample <= 1 ? sample : T{0};
  for (std::int64_t i = 0; i + 1 < out; ++i)
    starts.push_back(std::min(static_cast<std::int64_t>((static_cast<T>(i) + sample) * step) -
                                  static_cast<std::int64_t>(sample * step),
                              in - kernel));
  if (out > 0) starts.push_back(in - kernel);
  return starts;
}

Result<Done> fractional_max_pool(KernelContext& c) {
  const Reals in = c.reals("self");
  const Reals samples = c.reals("random_samples");
  Reals values(c.output_types[0].shape);
  Integers positions(values.shape);
  const std::size_t dims = spatial_dims_of(c.call);
  const Triple plane = spatial_triple(in.shape, dims);
  const Triple pooled = spatial_triple(values.shape, dims);
  Windows w;
  w.kernel = attribute_triple(c.call, "kernel_size", dims, 1);
  const std::int64_t planes = volume(pooled) == 0 ? 0 : values.count() / volume(pooled);
  for (std::int64_t p = 0; p < planes; ++p) {
    std::array<std::vector<std::int64_t>, 3> starts{{{0}, {0}, {0}}};
    for (std::size_t d = 0; d < dims; ++d) {
      // Planes take their samples width first, volumes depth first.
      const std::size_t which = dims == 2 ? 1 - d : d;
      const double sample =
          samples[p * static_cast<std::int64_t>(dims) + static_cast<std::int64_t>(which)];
      const std::size_t axis = 3 - dims + d;
      starts[axis] =
          c.output_types[0].dtype == DType::f64
              ? fractional_starts<double>(sample, plane[axis], pooled[axis], w.kernel[axis])
              : fractional_starts<float>(static_cast<float>(sample), plane[axis], pooled[axis],
                                         w.kernel[axis]);
    }
    for (std::int64_t i = 0; i < volume(pooled); ++i) {
      const Triple at = unflatten(i, pooled);
      Triple corner;
      for (std::size_t d = 0; d < 3; ++d) corner[d] = starts[d][static_cast<std::size_t>(at[d])];
      const double* from = in.data.data() + p * volume(plane);
      std::int64_t best = -1;
      for_each_in_window(w, corner, plane, [&](std::int64_t, std::int64_t position) {
        if (best < 0 || from[position] > from[best] || std::isnan(from[position])) best = position;
      });
      values[p * volume(pooled) + i] = from[best];
      positions[p * volume(pooled) + i] = best;
    }
  }
  c.write(values, 0);
  c.write(positions, 1);
  return Done{};
}

}  // namespace

void add_adaptive_pooling_kernels(KernelTable& t) {
  for (const Op op : {Op::_adaptive_avg_pool2d, Op::_adaptive_avg_pool3d, Op::adaptive_avg_pool1d,
                      Op::adaptive_avg_pool2d, Op::adaptive_avg_pool3d})
    t.add(op, adaptive_avg_pool);
  t.add(Op::_adaptive_avg_pool2d_backward, adaptive_avg_pool_backward);
  t.add(Op::_adaptive_avg_pool3d_backward, adaptive_avg_pool_backward);
  for (const Op op : {Op::adaptive_max_pool1d, Op::adaptive_max_pool2d, Op::adaptive_max_pool3d})
    t.add(op, adaptive_max_pool);
  t.add(Op::max_unpool2d, max_unpool);
  t.add(Op::max_unpool3d, max_unpool);
  t.add(Op::fractional_max_pool2d, fractional_max_pool);
  t.add(Op::fractional_max_pool3d, fractional_max_pool);
}

}  // namespace recut

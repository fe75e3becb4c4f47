// Adaptive pooling: windows chosen so that a given number of them covers the plane. Window i of n
// over `size` elements is [floor(i size / n), ceil((i + 1) size / n)).
#include <cmath>

#include "engine/eval/kernels/families.h"
#include "engine/eval/kernels/windows.h"

namespace recut {
namespace {

// Calls visit(flat place in the plane) for every element of the window at `at`.
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

Result<Done> avg_pool(KernelContext& c) {
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
                                [&](std::int64_t place) {
                                  sum += from[place];
                                  ++count;
                                });
    out[i] = sum / static_cast<double>(count);
  }
  c.write(out);
  return Done{};
}

Result<Done> avg_pool_backward(KernelContext& c) {
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
    for_each_in_adaptive_window(at, pooled, plane, [&](std::int64_t place) { to[place] += share; });
  }
  c.write(out);
  return Done{};
}

Result<Done> max_pool(KernelContext& c) {
  const Reals in = c.reals("self");
  Reals values(c.output_types[0].shape);
  Integers places(values.shape);
  const std::size_t dims = spatial_dims_of(c.call);
  const Triple plane = spatial_triple(in.shape, dims);
  const Triple pooled = spatial_triple(values.shape, dims);
  for (std::int64_t i = 0; i < values.count(); ++i) {
    const double* from = in.data.data() + i / volume(pooled) * volume(plane);
    std::int64_t best = -1;
    for_each_in_adaptive_window(
        unflatten(i % volume(pooled), pooled), pooled, plane, [&](std::int64_t place) {
          // The first largest; a NaN is larger than everything.
          if (best < 0 || from[place] > from[best] || std::isnan(from[place])) best = place;
        });
    values[i] = from[best];
    places[i] = best;
  }
  c.write(values, 0);
  c.write(places, 1);
  return Done{};
}

}  // namespace

void add_adaptive_pooling_kernels(KernelTable& t) {
  for (const Op op : {Op::_adaptive_avg_pool2d, Op::_adaptive_avg_pool3d, Op::adaptive_avg_pool1d,
                      Op::adaptive_avg_pool2d, Op::adaptive_avg_pool3d})
    t.add(op, avg_pool);
  t.add(Op::_adaptive_avg_pool2d_backward, avg_pool_backward);
  t.add(Op::_adaptive_avg_pool3d_backward, avg_pool_backward);
  for (const Op op : {Op::adaptive_max_pool1d, Op::adaptive_max_pool2d, Op::adaptive_max_pool3d})
    t.add(op, max_pool);
}

}  // namespace recut

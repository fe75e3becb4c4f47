// grid_sample: samples planes or volumes at data-dependent coordinates, which run from -1 to 1
// between the edges. Each position has one list of weighted taps in every dimension, with
// derivatives; forward and backward use the same taps.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "engine/eval/kernel.h"
#include "engine/eval/kernels/windows.h"

namespace recut {
namespace {

enum class Interpolation { linear, nearest, cubic };  // as ATen numbers them
enum class Padding { zeros, border, reflection };

// A coordinate and its derivative with respect to the grid's.
template <class T>
struct GridPosition {
  T at;
  T slope;
};

// One tap along one dimension: an element, its weight, and the weight's derivative with respect to
// the grid's coordinate.
struct GridSamplerTap {
  std::int64_t position;
  double weight;
  double slope;
};

// One dimension. Coordinates are computed in T as in PyTorch, since their rounding selects the
// element.
template <class T>
class GridSamplerAxis {
 public:
  GridSamplerAxis(const Call& call, std::int64_t size)
      : size_(size),
        align_(call.boolean("align_corners")),
        interpolation_(static_cast<Interpolation>(call.integer("interpolation_mode"))),
        padding_(static_cast<Padding>(call.integer("padding_mode"))) {}

  std::vector<GridSamplerTap> taps(double coordinate) const {
    const GridPosition<T> position = unnormalized(static_cast<T>(coordinate));
    if (interpolation_ == Interpolation::cubic) return cubic(position);
    const GridPosition<T> padded = finite(pad(position));
    if (interpolation_ == Interpolation::nearest)
      return {{static_cast<std::int64_t>(std::nearbyint(padded.at)), 1, 0}};
    const T lower = std::floor(padded.at);
    const auto first = static_cast<std::int64_t>(lower);
    const double part = padded.at - lower;
    return {{first, 1 - part, -padded.slope}, {first + 1, part, padded.slope}};
  }

  bool contains(std::int64_t position) const { return position >= 0 && position < size_; }

 private:
  GridPosition<T> unnormalized(T x) const {
    const auto size = static_cast<T>(size_);
    if (align_) return {(x + 1) / 2 * (size - 1), (size - 1) / 2};
    return {((x + 1) * size - 1) / 2, size / 2};
  }

  GridPosition<T> pad(GridPosition<T> p) const {
    if (padding_ == Padding::zeros) return p;
    if (padding_ == Padding::reflection) p = reflected(p);
    return clipped(p);
  }

  GridPosition<T> clipped(GridPosition<T> p) const {
    const auto last = static_cast<T>(size_ - 1);
    if (!(p.at > 0)) return {0, 0};
    if (p.at >= last) return {last, 0};
    return p;
  }

  // Mirrors at the elements' middles or, unless corners are aligned, half an element beyond.
  GridPosition<T> reflected(GridPosition<T> p) const {
    const T low = align_ ? T{0} : T{-0.5};
    const T span = align_ ? static_cast<T>(size_ - 1) : static_cast<T>(size_);
    if (span <= 0) return {0, 0};
    const T distance = std::abs(p.at - low);
    const T slope = p.at < low ? -p.slope : p.slope;
    const T extra = std::fmod(distance, span);
    const bool even = std::fmod(std::floor(distance / span), T{2}) == 0;
    return even ? GridPosition<T>{extra + low, slope} : GridPosition<T>{span - extra + low, -slope};
  }

  // Positions beyond any index count as far outside.
  static GridPosition<T> finite(GridPosition<T> p) {
    if (std::abs(p.at) < T{1e9}) return p;
    return {T{-100}, 0};
  }

  std::vector<GridSamplerTap> cubic(const GridPosition<T>& position) const {
    const GridPosition<T> p = finite(position);
    const T lower = std::floor(p.at);
    const double part = p.at - lower;
    std::vector<GridSamplerTap> taps;
    for (int k = -1; k <= 2; ++k) {
      const GridPosition<T> at = pad({lower + static_cast<T>(k), 1});
      const double x = part - k;
      taps.push_back({static_cast<std::int64_t>(at.at), weight(std::abs(x)),
                      slope(std::abs(x)) * (x < 0 ? -1 : 1) * p.slope});
    }
    return taps;
  }

  // Keys' cubic convolution (1981) and its derivative.
  static constexpr double kA = -0.75;
  static double weight(double x) {
    if (x <= 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
    return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA;
  }
  static double slope(double x) {
    if (x <= 1) return (3 * (kA + 2) * x - 2 * (kA + 3)) * x;
    return (3 * kA * x - 10 * kA) * x + 8 * kA;
  }

  std::int64_t size_;
  bool align_;
  Interpolation interpolation_;
  Padding padding_;
};

// The shapes of a call, with three spatial dimensions of which the first may have one element.
struct GridSamplerGeometry {
  std::size_t dims;
  Triple plane, sampled;
  std::int64_t samples, channels;

  GridSamplerGeometry(const Shape& input, const Shape& grid)
      : dims(input.size() - 2),
        plane(spatial_triple(input, dims)),
        sampled(spatial_triple(Shape(grid.begin(), grid.end() - 1), dims)),
        samples(input[0]),
        channels(input[1]) {}
};

// Calls visit(taps of the three dimensions, sample, output index) for every output position. The
// grid names x first: its last coordinate belongs to the first dimension.
template <class T, class Visit>
void for_each_sample(const Call& call, const GridSamplerGeometry& g, const Reals& grid,
                     Visit&& visit) {
  for (std::int64_t i = 0; i < g.samples * volume(g.sampled); ++i) {
    std::array<std::vector<GridSamplerTap>, 3> taps;
    for (auto& t : taps) t = {{0, 1, 0}};
    for (std::size_t d = 0; d < g.dims; ++d) {
      const std::size_t dimension = 3 - g.dims + d;
      const GridSamplerAxis<T> axis(call, g.plane[dimension]);
      const auto at =
          static_cast<std::int64_t>(g.dims) * i + static_cast<std::int64_t>(g.dims - 1 - d);
      std::vector<GridSamplerTap> inside;
      for (const GridSamplerTap& tap : axis.taps(grid[at]))
        if (axis.contains(tap.position)) inside.push_back(tap);
      taps[dimension] = std::move(inside);
    }
    visit(taps, i / volume(g.sampled), i % volume(g.sampled));
  }
}

// Calls visit(index in the plane, the three taps) for every combination.
template <class Visit>
void for_each_corner(const GridSamplerGeometry& g,
                     const std::array<std::vector<GridSamplerTap>, 3>& taps, Visit&& visit) {
  for (const GridSamplerTap& z : taps[0])
    for (const GridSamplerTap& y : taps[1])
      for (const GridSamplerTap& x : taps[2])
        visit(flatten({z.position, y.position, x.position}, g.plane), z, y, x);
}

template <class T>
Reals sample(const KernelContext& c, const Reals& input, const Reals& grid) {
  const GridSamplerGeometry g(input.shape, grid.shape);
  Reals out(c.output_types[0].shape);
  for_each_sample<T>(c.call, g, grid, [&](const auto& taps, std::int64_t n, std::int64_t position) {
    for (std::int64_t channel = 0; channel < g.channels; ++channel) {
      const std::int64_t plane = n * g.channels + channel;
      double sum = 0;
      for_each_corner(g, taps,
                      [&](std::int64_t at, const GridSamplerTap& z, const GridSamplerTap& y,
                          const GridSamplerTap& x) {
                        sum += z.weight * y.weight * x.weight * input[plane * volume(g.plane) + at];
                      });
      out[plane * volume(g.sampled) + position] = sum;
    }
  });
  return out;
}

template <class T>
void sample_backward(const KernelContext& c, const Reals& input, const Reals& grid,
                     Reals& grad_input, Reals& grad_grid) {
  const Reals grad = c.reals("grad_output");
  const GridSamplerGeometry g(input.shape, grid.shape);
  const auto dims = static_cast<std::int64_t>(g.dims);
  for_each_sample<T>(c.call, g, grid, [&](const auto& taps, std::int64_t n, std::int64_t position) {
    std::array<double, 3> slopes{};  // of x, y, z
    for (std::int64_t channel = 0; channel < g.channels; ++channel) {
      const std::int64_t plane = n * g.channels + channel;
      const double out = grad[plane * volume(g.sampled) + position];
      for_each_corner(g, taps,
                      [&](std::int64_t at, const GridSamplerTap& z, const GridSamplerTap& y,
                          const GridSamplerTap& x) {
                        const std::int64_t element = plane * volume(g.plane) + at;
                        const double value = input[element] * out;
                        grad_input[element] += z.weight * y.weight * x.weight * out;
                        slopes[0] += z.weight * y.weight * x.slope * value;
                        slopes[1] += z.weight * y.slope * x.weight * value;
                        slopes[2] += z.slope * y.weight * x.weight * value;
                      });
    }
    for (std::int64_t d = 0; d < dims; ++d)
      grad_grid[(n * volume(g.sampled) + position) * dims + d] =
          slopes[static_cast<std::size_t>(d)];
  });
}

Result<Done> grid_sampler(KernelContext& c) {
  const Reals input = c.reals("input");
  const Reals grid = c.reals("grid");
  const bool wide = c.output_types[0].dtype == DType::f64;
  c.write(wide ? sample<double>(c, input, grid) : sample<float>(c, input, grid));
  return Done{};
}

Result<Done> grid_sampler_backward(KernelContext& c) {
  const Reals input = c.reals("input");
  const Reals grid = c.reals("grid");
  Reals grad_input(input.shape);
  Reals grad_grid(grid.shape);
  if (c.output_types[1].dtype == DType::f64)
    sample_backward<double>(c, input, grid, grad_input, grad_grid);
  else
    sample_backward<float>(c, input, grid, grad_input, grad_grid);
  c.write(grad_input, 0);
  c.write(grad_grid, 1);
  return Done{};
}

}  // namespace

void add_grid_sampler_kernels(KernelTable& t) {
  for (const Op op : {Op::grid_sampler, Op::grid_sampler_2d, Op::grid_sampler_3d})
    t.add(op, grid_sampler);
  t.add(Op::grid_sampler_2d_backward, grid_sampler_backward);
  t.add(Op::grid_sampler_3d_backward, grid_sampler_backward);
}

}  // namespace recut

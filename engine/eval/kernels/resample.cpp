// Resampling: every mode is a list of weighted taps for each output position and dimension, applied
// dimension by dimension; gradients apply the transpose of the same taps.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "engine/eval/kernel.h"

namespace recut {
namespace {

enum class Kind { nearest, nearest_exact, linear, cubic, antialiased_linear, antialiased_cubic };

struct ResampleTap {
  std::int64_t position;
  double weight;
};
using Taps = std::vector<std::vector<ResampleTap>>;  // by output position

// One dimension. Positions are computed in T, the dtype that PyTorch uses: their rounding selects
// the elements.
template <class T>
struct ResampleAxis {
  Kind kind;
  std::int64_t in, out;
  bool align_corners;
  std::optional<double> scale_factor;  // output over input; None: the ratio of sizes

  T scale() const {
    const bool given = scale_factor && *scale_factor > 0;
    if (align_corners) return out > 1 ? static_cast<T>(in - 1) / static_cast<T>(out - 1) : T{0};
    return given ? static_cast<T>(1 / *scale_factor) : static_cast<T>(in) / static_cast<T>(out);
  }

  Taps taps() const {
    Taps all;
    for (std::int64_t i = 0; i < out; ++i) all.push_back(at(i));
    return all;
  }

 private:
  std::int64_t clamped(std::int64_t position) const {
    return std::clamp<std::int64_t>(position, 0, in - 1);
  }

  // A position as an index; a file's scale factor may have put it anywhere.
  std::int64_t index(T position) const {
    const T bound = static_cast<T>(in) + 4;
    if (!(position > -bound)) return static_cast<std::int64_t>(-bound);
    return static_cast<std::int64_t>(std::floor(std::min(position, bound)));
  }

  std::vector<ResampleTap> at(std::int64_t i) const {
    switch (kind) {
      case Kind::nearest:
        if (in == out) return {{i, 1}};
        if (out == 2 * in) return {{i / 2, 1}};
        return {{clamped(index(scale() * static_cast<T>(i))), 1}};
      case Kind::nearest_exact:
        return {{clamped(index(scale() * (static_cast<T>(i) + T{0.5}))), 1}};
      case Kind::linear:
        return linear(i);
      case Kind::cubic:
        return cubic(i);
      default:
        return antialiased(i);
    }
  }

  T source(std::int64_t i) const {
    if (align_corners) return scale() * static_cast<T>(i);
    return scale() * (static_cast<T>(i) + T{0.5}) - T{0.5};
  }

  std::vector<ResampleTap> linear(std::int64_t i) const {
    if (in == out) return {{i, 1}};
    const T position = std::max(source(i), T{0});
    const std::int64_t lower = clamped(index(position));
    const std::int64_t upper = clamped(lower + 1);
    const double part = std::clamp<double>(position - static_cast<T>(lower), 0, 1);
    return {{lower, 1 - part}, {upper, part}};
  }

  std::vector<ResampleTap> cubic(std::int64_t i) const {
    const T position = source(i);
    const std::int64_t lower = index(position);
    const double part = std::clamp<double>(position - static_cast<T>(lower), 0, 1);
    std::vector<ResampleTap> taps;
    for (std::int64_t k = -1; k <= 2; ++k)
      taps.push_back(
          {clamped(lower + k), cubic_weight(std::abs(part - static_cast<double>(k)), -0.75)});
    return taps;
  }

  // Keys' cubic convolution (1981).
  static double cubic_weight(double x, double a) {
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    return 0;
  }

  // The filter is widened by the scale, so that downsampling averages over the whole footprint of
  // an output.
  std::vector<ResampleTap> antialiased(std::int64_t i) const {
    const bool is_cubic = kind == Kind::antialiased_cubic;
    const T step = scale();
    const T support = (is_cubic ? T{2} : T{1}) * std::max(step, T{1});
    const T inverse = step >= 1 ? 1 / step : T{1};
    const T half{0.5};  // aligned corners change the scale, and not where middles are
    const T center = step * (static_cast<T>(i) + half);
    const std::int64_t first = std::max<std::int64_t>(truncated(center - support + half), 0);
    const std::int64_t last = std::min(truncated(center + support + half), in);
    std::vector<ResampleTap> taps;
    double total = 0;
    for (std::int64_t k = first; k < last; ++k) {
      const double x = std::abs((static_cast<T>(k) - center + half) * inverse);
      const double weight = is_cubic ? cubic_weight(x, -0.5) : std::max(1 - x, 0.0);
      taps.push_back({k, weight});
      total += weight;
    }
    if (total != 0)
      for (ResampleTap& tap : taps) tap.weight /= total;
    return taps;
  }

  std::int64_t truncated(T position) const {
    const T bound = static_cast<T>(in) + 4;
    if (!(position > -bound)) return static_cast<std::int64_t>(-bound);
    return static_cast<std::int64_t>(std::min(position, bound));
  }
};

// Dimension `d` of `from` by its taps, or the gradient of that, which makes it `extent` long.
Reals apply(const Reals& from, std::size_t d, const Taps& taps, std::int64_t extent,
            bool backwards) {
  Shape shape = from.shape;
  shape[d] = extent;
  Reals to(shape);
  const std::int64_t inner =
      element_count(Shape(shape.begin() + static_cast<std::ptrdiff_t>(d) + 1, shape.end()));
  const std::int64_t outer =
      element_count(Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(d)));
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < taps.size(); ++i)
      for (const ResampleTap& tap : taps[i]) {
        const auto out = static_cast<std::int64_t>(i);
        const std::int64_t source = backwards ? out : tap.position;
        const std::int64_t target = backwards ? tap.position : out;
        for (std::int64_t k = 0; k < inner; ++k)
          to[(o * extent + target) * inner + k] +=
              tap.weight * from[(o * from.shape[d] + source) * inner + k];
      }
  return to;
}

// The scale factor of spatial dimension `i` of `dims`, under the names that schemas have for it.
std::optional<double> scale_factor(const Call& call, std::size_t i, std::size_t dims) {
  static constexpr std::string_view kNames[] = {"scales_d", "scales_h", "scales_w"};
  if (call.op().parameter("scale_factors")) {
    const auto* list = call.argument("scale_factors").get<ArgumentList>();
    if (list == nullptr) return std::nullopt;
    return Scalar::from((*list)[i]).value_or(Scalar{}).real;
  }
  const std::string_view name = dims == 1 ? "scales" : kNames[3 - dims + i];
  if (!call.op().parameter(name) || !call.given(name)) return std::nullopt;
  return call.real(name);
}

template <class T>
Reals resample(const Call& call, Reals x, const Shape& in, const Shape& out, Kind kind,
               bool backwards) {
  const std::size_t dims = in.size() - 2;
  const bool align = call.op().parameter("align_corners") && call.boolean("align_corners");
  for (std::size_t i = 0; i < dims; ++i) {
    const std::size_t d = i + 2;
    const ResampleAxis<T> axis{kind, in[d], out[d], align, scale_factor(call, i, dims)};
    x = apply(x, d, axis.taps(), backwards ? in[d] : out[d], backwards);
  }
  return x;
}

template <Kind kind, bool backwards>
Result<Done> resample_kernel(KernelContext& c) {
  Reals x = c.reals(c.call.op().parameters[0].name);
  const Shape& other = c.output_types[0].shape;
  const Shape from = x.shape;
  const Shape& in = backwards ? other : from;
  const Shape& out = backwards ? from : other;
  if (c.output_types[0].dtype == DType::f64)
    c.write(resample<double>(c.call, std::move(x), in, out, kind, backwards));
  else
    c.write(resample<float>(c.call, std::move(x), in, out, kind, backwards));
  return Done{};
}

}  // namespace

void add_resample_kernels(KernelTable& t) {
  const auto forward = [&](std::initializer_list<Op> ops, Kernel k) {
    for (const Op op : ops) t.add(op, k);
  };
  forward({Op::upsample_nearest1d, Op::upsample_nearest2d, Op::upsample_nearest3d,
           Op::upsample_nearest1d_vec, Op::upsample_nearest2d_vec, Op::upsample_nearest3d_vec},
          resample_kernel<Kind::nearest, false>);
  forward({Op::upsample_nearest1d_backward, Op::upsample_nearest2d_backward,
           Op::upsample_nearest3d_backward},
          resample_kernel<Kind::nearest, true>);
  forward({Op::_upsample_nearest_exact1d, Op::_upsample_nearest_exact2d,
           Op::_upsample_nearest_exact3d, Op::_upsample_nearest_exact1d_vec,
           Op::_upsample_nearest_exact2d_vec, Op::_upsample_nearest_exact3d_vec},
          resample_kernel<Kind::nearest_exact, false>);
  forward({Op::_upsample_nearest_exact1d_backward, Op::_upsample_nearest_exact2d_backward,
           Op::_upsample_nearest_exact3d_backward},
          resample_kernel<Kind::nearest_exact, true>);
  forward({Op::upsample_linear1d, Op::upsample_bilinear2d, Op::upsample_trilinear3d,
           Op::upsample_linear1d_vec, Op::upsample_bilinear2d_vec, Op::upsample_trilinear3d_vec},
          resample_kernel<Kind::linear, false>);
  forward({Op::upsample_linear1d_backward, Op::upsample_bilinear2d_backward,
           Op::upsample_trilinear3d_backward},
          resample_kernel<Kind::linear, true>);
  forward({Op::upsample_bicubic2d, Op::upsample_bicubic2d_vec},
          resample_kernel<Kind::cubic, false>);
  t.add(Op::upsample_bicubic2d_backward, resample_kernel<Kind::cubic, true>);
  forward({Op::_upsample_bilinear2d_aa, Op::_upsample_bilinear2d_aa_vec},
          resample_kernel<Kind::antialiased_linear, false>);
  t.add(Op::_upsample_bilinear2d_aa_backward, resample_kernel<Kind::antialiased_linear, true>);
  forward({Op::_upsample_bicubic2d_aa, Op::_upsample_bicubic2d_aa_vec},
          resample_kernel<Kind::antialiased_cubic, false>);
  t.add(Op::_upsample_bicubic2d_aa_backward, resample_kernel<Kind::antialiased_cubic, true>);
}

}  // namespace recut

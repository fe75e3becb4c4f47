// Resampling (interpolation): an output element reads a few weighted taps a dimension; gradients
// scatter to them. Rounding decides the taps, so coordinates are computed in f32 (f64 for f64), as
// in ATen.
#include "engine/codegen/lower/nests/resample.h"

#include <algorithm>

namespace recut::loop {
namespace {

template <class T>
double scale_in(const ResampledExtent& e) {
  if (e.align_corners)
    return e.out > 1 ? static_cast<T>(e.in - 1) / static_cast<T>(e.out - 1) : T{0};
  if (e.scale_factor && *e.scale_factor > 0) return static_cast<T>(1 / *e.scale_factor);
  return static_cast<T>(e.in) / static_cast<T>(e.out);
}

}  // namespace

double resampling_scale(const ResampledExtent& extent, DType type) {
  return type == DType::f64 ? scale_in<double>(extent) : scale_in<float>(extent);
}

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

namespace {

enum class ResampleKind { nearest, nearest_exact, linear, cubic };

struct ResampleTap {
  Index position;
  std::optional<ScalarExpr> weight;  // none: 1
};

// The weight of Keys' cubic convolution (1981) at a distance.
ScalarExpr cubic_weight(const ScalarExpr& x) {
  constexpr double kA = -0.75;
  const ScalarExpr near = ((kA + 2) * x - (kA + 3)) * x * x + 1.0;
  const ScalarExpr far = ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA;
  return select(x < 1.0, near, select(x < 2.0, far, x.like(0)));
}

// One dimension: `in` elements resampled to `out`.
struct ResampleAxis {
  Lowering& lowering;
  ResampleKind kind;
  std::int64_t in, out;
  bool align_corners;
  std::optional<double> scale_factor;  // output over input; none: the ratio of sizes
  DType type;                          // of positions
  DType weight_type;

  double scale() const { return resampling_scale({in, out, align_corners, scale_factor}, type); }

  // A whole number as an index, clamped to the range.
  Index clamped(const ScalarExpr& whole) const {
    const ScalarExpr position = smaller(larger(whole, 0.0), static_cast<double>(in - 1));
    return lowering.builder().check(position.to(DType::i64).id(), in);
  }
  ScalarExpr source(const ScalarExpr& at) const {
    return align_corners ? scale() * at : scale() * (at + 0.5) - 0.5;
  }
  // The fractional part of a coordinate, in 0 ... 1.
  ScalarExpr part(const ScalarExpr& position, const ScalarExpr& lower) const {
    return smaller(larger(position - lower, 0.0), 1.0).to(weight_type);
  }

  std::vector<ResampleTap> taps(const Index& at) const {
    const ScalarExpr number = lowering.number(at).to(type);
    switch (kind) {
      case ResampleKind::nearest:
        if (in == out) return {{at, {}}};
        if (out == 2 * in) return {{lowering.builder().quotient(at, 2), {}}};
        return {{clamped(floor(scale() * number)), {}}};
      case ResampleKind::nearest_exact:
        return {{clamped(floor(scale() * (number + 0.5))), {}}};
      case ResampleKind::linear:
        return in == out ? std::vector<ResampleTap>{{at, {}}} : linear(source(number));
      default:
        return cubic(source(number));
    }
  }

  std::vector<ResampleTap> linear(const ScalarExpr& source) const {
    const ScalarExpr position = larger(source, 0.0);
    const ScalarExpr lower = smaller(floor(position), static_cast<double>(in - 1));
    const ScalarExpr upper_part = part(position, lower);
    return {{clamped(lower), 1.0 - upper_part}, {clamped(lower + 1.0), upper_part}};
  }

  std::vector<ResampleTap> cubic(const ScalarExpr& position) const {
    const ScalarExpr lower = floor(position);
    const ScalarExpr beyond = part(position, lower);
    std::vector<ResampleTap> taps;
    for (int k = -1; k <= 2; ++k)
      taps.push_back({clamped(lower + static_cast<double>(k)),
                      cubic_weight(abs(beyond - static_cast<double>(k)))});
    return taps;
  }
};

// Planes behind two leading dimensions, and the resampling of each spatial dimension.
struct Resampling {
  const Nest& nest;
  ResampleKind kind;
  Shape in, out;
  DType type;

  ResampleAxis axis(std::size_t d) const {
    const Call& call = nest.call;
    const bool align = call.op().parameter("align_corners") && call.boolean("align_corners");
    const bool wide = nest.type().dtype == DType::f64;
    return {nest.lowering,
            kind,
            in[d],
            out[d],
            align,
            scale_factor(call, d - 2, in.size() - 2),
            wide ? DType::f64 : DType::f32,
            type};
  }

  // Calls visit(input index, weight) for all taps of an output position.
  void for_each_tap(
      const Indices& at,
      const std::function<void(const Indices&, const std::optional<ScalarExpr>&)>& visit) const {
    std::vector<std::vector<ResampleTap>> taps;
    for (std::size_t d = 2; d < in.size(); ++d) taps.push_back(axis(d).taps(at[d]));
    const std::function<void(Indices, std::optional<ScalarExpr>)> add =
        [&](const Indices& position, const std::optional<ScalarExpr>& weight) {
          if (position.size() == in.size()) return visit(position, weight);
          for (const ResampleTap& tap : taps[position.size() - 2]) {
            Indices next = position;
            next.push_back(tap.position);
            add(next, !tap.weight ? weight : weight ? *weight * *tap.weight : tap.weight);
          }
        };
    add({at[0], at[1]}, std::nullopt);
  }
};

template <ResampleKind kind>
void resample(const Nest& nest) {
  const std::string_view self = nest.call.op().parameters[0].name;
  const Resampling r{nest, kind, nest.shape_of(self), nest.type().shape,
                     nest.computing(nest.type().dtype)};
  const Layout whole = output_layout(nest.type());
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    std::optional<ScalarExpr> sum;
    r.for_each_tap(at, [&](const Indices& position, const std::optional<ScalarExpr>& weight) {
      const ScalarExpr x = nest.raw(self, position).to(r.type);
      const ScalarExpr weighed = weight ? *weight * x : x;
      sum = sum ? *sum + weighed : weighed;
    });
    nest.lowering.write(nest.output(), at, *sum);
  });
}

// Planes are parallel. Positions of one plane may share taps, and run serially.
template <ResampleKind kind>
void resample_backward(const Nest& nest) {
  const Resampling r{nest, kind, nest.type().shape, nest.shape_of("grad_output"),
                     nest.computing(nest.type().dtype)};
  const Layout whole = output_layout(nest.type());
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(), at, nest.lowering.constant(r.type, 0));
  });
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  const Shape planes(r.out.begin(), r.out.begin() + 2), plane(r.out.begin() + 2, r.out.end());
  const Index number = builder.open_loop("i", element_count(planes), Builder::Order::parallel);
  Indices at = delinearize(number, planes, builder);
  const Index in_plane = builder.open_loop("j", element_count(plane));
  for (const Index& index : delinearize(in_plane, plane, builder)) at.push_back(index);
  const ScalarExpr grad = nest.real("grad_output", at).to(r.type);
  r.for_each_tap(at, [&](const Indices& position, const std::optional<ScalarExpr>& weight) {
    nest.lowering.combine_into(nest.output(), position, Combine::add,
                               weight ? *weight * grad : grad);
  });
  builder.close_to(depth);
}

}  // namespace

void add_resample_nests(NestTable& table) {
  const auto add = [&](std::initializer_list<Op> ops, NestBuilder build) {
    for (const Op op : ops) table.push_back({op, build, no_reals});
  };
  add({Op::upsample_nearest1d, Op::upsample_nearest2d, Op::upsample_nearest3d,
       Op::upsample_nearest1d_vec, Op::upsample_nearest2d_vec, Op::upsample_nearest3d_vec},
      resample<ResampleKind::nearest>);
  add({Op::upsample_nearest1d_backward, Op::upsample_nearest2d_backward,
       Op::upsample_nearest3d_backward},
      resample_backward<ResampleKind::nearest>);
  add({Op::_upsample_nearest_exact1d, Op::_upsample_nearest_exact2d, Op::_upsample_nearest_exact3d,
       Op::_upsample_nearest_exact1d_vec, Op::_upsample_nearest_exact2d_vec,
       Op::_upsample_nearest_exact3d_vec},
      resample<ResampleKind::nearest_exact>);
  add({Op::_upsample_nearest_exact1d_backward, Op::_upsample_nearest_exact2d_backward,
       Op::_upsample_nearest_exact3d_backward},
      resample_backward<ResampleKind::nearest_exact>);
  add({Op::upsample_linear1d, Op::upsample_bilinear2d, Op::upsample_trilinear3d,
       Op::upsample_linear1d_vec, Op::upsample_bilinear2d_vec, Op::upsample_trilinear3d_vec},
      resample<ResampleKind::linear>);
  add({Op::upsample_linear1d_backward, Op::upsample_bilinear2d_backward,
       Op::upsample_trilinear3d_backward},
      resample_backward<ResampleKind::linear>);
  add({Op::upsample_bicubic2d, Op::upsample_bicubic2d_vec}, resample<ResampleKind::cubic>);
  add({Op::upsample_bicubic2d_backward}, resample_backward<ResampleKind::cubic>);
}

}  // namespace recut::loop

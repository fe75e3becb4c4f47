// Antialiased resampling: the filter is widened by the scale, so that shrinking averages over all
// input elements that an output element covers. Coordinates are computed in f32 (f64 for f64), as
// ATen does: their rounding decides which elements a filter covers.
#include <algorithm>
#include <cmath>

#include "engine/codegen/lower/nests/resample.h"

namespace recut::loop {
namespace {

enum class AntialiasedResampleKind { linear, cubic };

// The filter at one element; 0 outside of its support.
struct AntialiasedResampleTap {
  Index position;
  ScalarExpr inside, weight;
};

// The filter along one dimension.
class Filter {
 public:
  Filter(Lowering& lowering, AntialiasedResampleKind kind, const ResampledExtent& extent,
         DType of_positions, DType type)
      : lowering_(lowering),
        kind_(kind),
        in_(extent.in),
        of_positions_(of_positions),
        type_(type),
        scale_(resampling_scale(extent, of_positions)),
        reach_((kind == AntialiasedResampleKind::cubic ? 2 : 1) * std::max(scale_, 1.0)) {}

  // The maximal number of elements in its support.
  std::int64_t taps() const {
    const double most = std::min(std::ceil(2 * reach_) + 1, static_cast<double>(in_));
    return static_cast<std::int64_t>(most);
  }

  // Element k of the support of an output position.
  AntialiasedResampleTap tap(const Index& at, const Index& k) const {
    const ScalarExpr center = scale_ * (lowering_.number(at).to(of_positions_) + 0.5);
    const ScalarExpr first = larger(truncated(center - reach_ + 0.5), 0.0);
    const ScalarExpr last = smaller(truncated(center + reach_ + 0.5), static_cast<double>(in_));
    const ScalarExpr element = first + lowering_.number(k);
    const ScalarExpr inside = element < last;
    const ScalarExpr x = abs((element.to(of_positions_) - center + 0.5) * inverse()).to(type_);
    const ScalarExpr readable = select(inside, element, element.like(0));
    return {lowering_.builder().check(readable.id(), in_), inside,
            select(inside, weight(x), x.like(0))};
  }

 private:
  double inverse() const {
    if (scale_ < 1) return 1;
    return of_positions_ == DType::f64 ? 1 / scale_ : 1 / static_cast<float>(scale_);
  }
  ScalarExpr truncated(const ScalarExpr& position) const {
    const auto bound = static_cast<double>(in_ + 4);
    return smaller(larger(position, -bound), bound).to(DType::i64);
  }
  // The triangle, or Keys' cubic convolution (1981).
  ScalarExpr weight(const ScalarExpr& x) const {
    if (kind_ == AntialiasedResampleKind::linear) return larger(1.0 - x, 0.0);
    constexpr double kA = -0.5;
    const ScalarExpr near = ((kA + 2) * x - (kA + 3)) * x * x + 1.0;
    const ScalarExpr far = ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA;
    return select(x < 1.0, near, select(x < 2.0, far, x.like(0)));
  }

  Lowering& lowering_;
  const AntialiasedResampleKind kind_;
  const std::int64_t in_;
  const DType of_positions_, type_;
  const double scale_, reach_;
};

// Planes [N, C, H, W], by a filter each for rows and columns.
struct AntialiasedResampling {
  const Nest& nest;
  DType type;
  std::vector<Filter> filters;

  AntialiasedResampling(const Nest& n, AntialiasedResampleKind kind, const Shape& in,
                        const Shape& out)
      : nest(n), type(n.computing(n.type().dtype)) {
    const DType of_positions = n.type().dtype == DType::f64 ? DType::f64 : DType::f32;
    const bool align = n.call.boolean("align_corners");
    for (std::size_t d = 0; d < 2; ++d)
      filters.emplace_back(
          n.lowering, kind,
          ResampledExtent{in[d + 2], out[d + 2], align, scale_factor(n.call, d, 2)}, of_positions,
          type);
  }

  // `at` is a position of the output, followed by the taps' numbers.
  struct Taps {
    AntialiasedResampleTap row, column;

    ScalarExpr inside() const { return row.inside & column.inside; }
    ScalarExpr weight() const { return row.weight * column.weight; }
    Indices position(const Indices& at) const {
      return {at[0], at[1], row.position, column.position};
    }
  };
  Taps taps(const Indices& at) const {
    return {filters[0].tap(at[2], at[4]), filters[1].tap(at[3], at[5])};
  }

  // Weights are normalized by their sum, unless it is 0.
  static ScalarExpr normalised(const ScalarExpr& x, const ScalarExpr& weights) {
    return select(weights == 0.0, x, x / weights);
  }
};

template <AntialiasedResampleKind kind>
void antialiased_resample(const Nest& nest) {
  const std::string_view self = nest.call.op().parameters[0].name;
  const Shape& out = nest.type().shape;
  const AntialiasedResampling r(nest, kind, nest.shape_of(self), out);
  const std::int64_t far = element_count(out) + 1;  // so that lanes go along the output
  ReductionSpace space{out, {false, false, false, false, true, true}, contiguous_strides(out)};
  for (const Filter& filter : r.filters) {
    space.shape.push_back(filter.taps());
    space.strides.push_back(far);
  }
  const ScalarExpr zero = nest.lowering.constant(r.type, 0);
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const auto sums = reducer.reduce(
        {{"weights", Combine::add, zero, [&](const Indices& at) { return r.taps(at).weight(); }},
         {"sum", Combine::add, zero, [&](const Indices& at) {
            const AntialiasedResampling::Taps taps = r.taps(at);
            const ScalarExpr x = nest.raw_where(self, taps.position(at), taps.inside()).to(r.type);
            return taps.weight() * x;
          }}});
    const Indices position(reducer.at().begin(), reducer.at().begin() + 4);
    nest.lowering.write(nest.output(), position,
                        AntialiasedResampling::normalised(sums[1], sums[0]));
  });
}

// Planes are parallel. Positions of one plane may share elements, and run serially.
template <AntialiasedResampleKind kind>
void antialiased_resample_backward(const Nest& nest) {
  const Shape& grads = nest.shape_of("grad_output");
  const AntialiasedResampling r(nest, kind, nest.type().shape, grads);
  const Layout whole = output_layout(nest.type());
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(), at, nest.lowering.constant(r.type, 0));
  });
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  const Shape planes(grads.begin(), grads.begin() + 2), plane(grads.begin() + 2, grads.end());
  const Index number = builder.open_loop("i", element_count(planes), Builder::Order::parallel);
  Indices at = delinearize(number, planes, builder);
  const Indices in_plane =
      delinearize(builder.open_loop("j", element_count(plane)), plane, builder);
  at.insert(at.end(), in_plane.begin(), in_plane.end());
  at.resize(6, 0);
  const auto each_tap = [&](const std::function<void(const AntialiasedResampling::Taps&)>& body) {
    const std::size_t outside = builder.depth();
    for (std::size_t d = 0; d < 2; ++d) at[4 + d] = builder.open_loop("k", r.filters[d].taps());
    body(r.taps(at));
    builder.close_to(outside);
  };
  const AccumulatorId weights =
      builder.accumulator("weights", Combine::add, nest.lowering.constant(r.type, 0).id(), 1);
  each_tap([&](const AntialiasedResampling::Taps& taps) {
    builder.update(weights, taps.weight().id());
  });
  const ScalarExpr grad = nest.real("grad_output", Indices(at.begin(), at.begin() + 4)).to(r.type);
  const ScalarExpr share{
      &builder, AntialiasedResampling::normalised(grad, {&builder, builder.read(weights)}).id()};
  each_tap([&](const AntialiasedResampling::Taps& taps) {
    builder.open_if(taps.inside().id());
    nest.lowering.combine_into(nest.output(), taps.position(at), Combine::add,
                               taps.weight() * share);
  });
  builder.close_to(depth);
}

}  // namespace

void add_antialiased_resample_nests(NestTable& table) {
  for (const Op op : {Op::_upsample_bilinear2d_aa, Op::_upsample_bilinear2d_aa_vec})
    table.push_back({op, antialiased_resample<AntialiasedResampleKind::linear>, no_reals});
  for (const Op op : {Op::_upsample_bicubic2d_aa, Op::_upsample_bicubic2d_aa_vec})
    table.push_back({op, antialiased_resample<AntialiasedResampleKind::cubic>, no_reals});
  table.push_back({Op::_upsample_bilinear2d_aa_backward,
                   antialiased_resample_backward<AntialiasedResampleKind::linear>, no_reals});
  table.push_back({Op::_upsample_bicubic2d_aa_backward,
                   antialiased_resample_backward<AntialiasedResampleKind::cubic>, no_reals});
}

}  // namespace recut::loop

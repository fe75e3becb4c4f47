// Sampling at coordinates that are data: the interpolation is written out, so that forward mode and
// second derivatives come of it; reverse mode takes ATen's backward operators.
#include <array>

#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

template <Op backward, std::int64_t part>
Value sampled(VjpContext& ctx) {
  return ctx.b(backward,
               {ctx.grad(), ctx["input"], ctx["grid"], ctx.given("interpolation_mode"),
                ctx.given("padding_mode"), ctx.given("align_corners"),
                ArgumentList{ctx.needs_input_grad("input"), ctx.needs_input_grad("grid")}})[part];
}

// One interpolation tap along one dimension, for all coordinates at once: which element, and with
// which weight. The weight is 0 where the element lies outside.
struct Tap {
  Value element;  // an index, within the dimension
  Value weight;
};

// One spatial dimension: interpolation 0 linear, 1 nearest, 2 cubic; padding 0 zeros, 1 border,
// 2 reflection, as ATen numbers them.
struct Axis {
  VjpContext& ctx;
  std::int64_t size;

  bool aligned() const { return ctx.boolean("align_corners"); }
  double last() const { return static_cast<double>(size - 1); }

  // Maps coordinates of -1 … 1 to positions of elements.
  Value unnormalized(const Value& x) const {
    if (aligned()) return (x + 1) * (last() / 2);
    return ((x + 1) * static_cast<double>(size) - 1) / 2;
  }

  // Mirrored at the elements' middles or, unless corners are aligned, half an element beyond.
  Value reflected(const Value& at) const {
    const double low = aligned() ? 0 : -0.5;
    const double span = aligned() ? last() : static_cast<double>(size);
    if (span <= 0) return at * 0;
    const Value distance = unary(Op::abs, at - low);
    const Value extra = ctx.b(Op::fmod_Scalar, {distance, span});
    const Value flips = unary(Op::floor, distance / span);
    const Value even = ctx.b(Op::eq_Scalar, {ctx.b(Op::fmod_Scalar, {flips, 2.0}), 0});
    const Value there = extra + low, back = span + low - extra;
    return ctx.b.where(even, there, back);
  }

  Value padded(const Value& at) const {
    const std::int64_t padding = ctx.integer("padding_mode");
    if (padding == 0) return at;
    return ctx.b(Op::clamp, {padding == 2 ? reflected(at) : at, 0, last()});
  }

  // The element at a place that is a whole number.
  Tap tap(const Value& at, const Value& weight) const {
    const Value begun = ctx.b(Op::ge_Scalar, {at, 0}), ended = ctx.b(Op::gt_Scalar, {at, last()});
    const Value inside = both(begun, negated(ended));
    return {ctx.b.convert(ctx.b(Op::clamp, {at, 0, last()}), DType::i64),
            keep_where(inside, weight)};
  }

  // Keys' cubic convolution (1981) with a = -0.75, of the distance from the element.
  static Value cubic_weight(const Value& distance, bool near) {
    constexpr double a = -0.75;
    if (near) return product({distance * (a + 2) - (a + 3), squared(distance)}) + 1;
    return ((distance * a - 5 * a) * distance + 8 * a) * distance - 4 * a;
  }

  std::vector<Tap> taps(const Value& grid) const {
    const Value at = unnormalized(grid);
    const std::int64_t interpolation = ctx.integer("interpolation_mode");
    if (interpolation == 2) return cubic_taps(at);
    const Value coordinate = padded(at);
    if (interpolation == 1) return {tap(unary(Op::round, coordinate), filled(coordinate, 1))};
    const Value below = unary(Op::floor, coordinate), part = coordinate - below;
    return {tap(below, 1 - part), tap(below + 1, part)};
  }

  // Each element is padded by itself.
  std::vector<Tap> cubic_taps(const Value& at) const {
    const Value below = unary(Op::floor, at), part = at - below;
    const std::vector<Value> places = {padded(below - 1), padded(below), padded(below + 1),
                                       padded(below + 2)};
    const std::vector<Value> weights = {cubic_weight(part + 1, false), cubic_weight(part, true),
                                        cubic_weight(1 - part, true),
                                        cubic_weight(2 - part, false)};
    std::vector<Tap> all;
    for (std::size_t i = 0; i < places.size(); ++i) all.push_back(tap(places[i], weights[i]));
    return all;
  }
};

// Adds the taps of one dimension to the combinations of those before it.
std::vector<Tap> combined(const std::vector<Tap>& outer, const std::vector<Tap>& inner,
                          std::int64_t size) {
  std::vector<Tap> all;
  for (const Tap& o : outer)
    for (const Tap& i : inner) all.push_back({o.element * size + i.element, o.weight * i.weight});
  return all;
}

std::vector<Value> sample(VjpContext& ctx) {
  const Value input = ctx["input"], grid = ctx["grid"];
  const std::int64_t dims = input.rank() - 2, n = input.size(0), channels = input.size(1);
  std::vector<Tap> taps;
  std::int64_t elements = 1, places = 1;
  for (std::int64_t d = 0; d < dims; ++d) {
    const std::int64_t size = input.size(2 + d);
    // The grid names x first: its last coordinate belongs to the first dimension.
    const Value along = ctx.b(Op::select_int, {grid, -1, dims - 1 - d});
    const std::vector<Tap> own = Axis{ctx, size}.taps(along);
    taps = d == 0 ? own : combined(taps, own, size);
    elements *= size;
    places *= grid.size(1 + d);
  }
  const Value flat = ctx.b.view(input, {n, channels, elements});
  const auto for_channels = [&](const Value& v) {
    return ctx.b.expand(ctx.b.view(v, {n, 1, places}), {n, channels, places});
  };
  Value sum;
  for (const Tap& tap : taps)
    sum = plus(sum, product({ctx.b(Op::gather, {flat, 2, for_channels(tap.element)}),
                             for_channels(tap.weight)}));
  return {
      ctx.b.view(sum, ctx.has("output_mask") ? ctx["grad_output"].shape() : ctx.out_type().shape)};
}

std::vector<Value> sample_backward(VjpContext& ctx) {
  return gradients_of(ctx, sample(ctx).front(), ctx["grad_output"], {ctx["input"], ctx["grid"]});
}

std::vector<Value> grid_sampler(VjpContext& ctx) {
  const Op op = ctx["input"].rank() == 4 ? Op::grid_sampler_2d : Op::grid_sampler_3d;
  const auto& given = ctx.call().arguments();
  return {ctx.b.call(op, std::vector<Argument>(given.begin(), given.end()))};
}

template <Op forward, Op backward>
void add_sampler(DerivativeRules& rows) {
  rows.push_back(vjp_and_decomposition(
      {forward}, {{"input", sampled<backward, 0>}, {"grid", sampled<backward, 1>}}, sample));
  rows.push_back(decomposes({backward}, sample_backward));
}

}  // namespace

DerivativeRules grid_sampling_rules() {
  DerivativeRules rows = {decomposes({Op::grid_sampler}, grid_sampler)};
  add_sampler<Op::grid_sampler_2d, Op::grid_sampler_2d_backward>(rows);
  add_sampler<Op::grid_sampler_3d, Op::grid_sampler_3d_backward>(rows);
  return rows;
}

}  // namespace recut::autodiff

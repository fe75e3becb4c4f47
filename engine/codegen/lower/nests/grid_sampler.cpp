// grid_sampler: samples planes or volumes at coordinates in -1 ... 1 that are data. Rounding
// decides which elements a coordinate reads, so coordinates are computed in f32 (f64 for f64), as
// in ATen.
#include <functional>

#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

enum class Interpolation { linear, nearest, cubic };  // as ATen numbers them
enum class Padding { zeros, boundary, reflection };

// A coordinate in elements, and its derivative by the grid's coordinate.
struct GridSamplerCoordinate {
  ScalarExpr at, slope;
};

// One tap along a dimension: the weight of an element, and its derivative by the grid's coordinate.
// Elements outside count as 0.
struct GridSamplerTap {
  Index position;
  ScalarExpr inside, weight, slope;
};

// One dimension of the plane, of `size` elements.
class GridSamplerAxis {
 public:
  GridSamplerAxis(const Nest& nest, std::int64_t size)
      : lowering_(nest.lowering),
        type_(nest.computing(nest.dtype_of("input"))),
        size_(size),
        align_(nest.call.boolean("align_corners")),
        interpolation_(static_cast<Interpolation>(nest.call.integer("interpolation_mode"))),
        padding_(static_cast<Padding>(nest.call.integer("padding_mode"))) {}

  std::vector<GridSamplerTap> taps(const ScalarExpr& coordinate) const {
    const GridSamplerCoordinate position = unnormalised(coordinate);
    if (interpolation_ == Interpolation::cubic) return cubic(position);
    const GridSamplerCoordinate padded = finite(pad(position));
    if (interpolation_ == Interpolation::nearest) {
      const ScalarExpr one = lowering_.constant(type_, 1);
      return {tap(nearest(padded.at), one, one.like(0))};
    }
    const ScalarExpr lower = floor(padded.at);
    const ScalarExpr part = (padded.at - lower).to(type_);
    const ScalarExpr slope = padded.slope.to(type_);
    return {tap(lower, 1.0 - part, -slope), tap(lower + 1.0, part, slope)};
  }

 private:
  GridSamplerTap tap(const ScalarExpr& whole, const ScalarExpr& weight,
                     const ScalarExpr& slope) const {
    const ScalarExpr number = whole.to(DType::i64);
    const ScalarExpr inside = (number >= 0.0) & (number < static_cast<double>(size_));
    const ScalarExpr readable = select(inside, number, number.like(0));
    return {lowering_.builder().check(readable.id(), size_), inside, weight, slope};
  }

  GridSamplerCoordinate unnormalised(const ScalarExpr& x) const {
    const auto size = static_cast<double>(size_);
    if (align_) return {(x + 1.0) / 2.0 * (size - 1), x.like((size - 1) / 2)};
    return {((x + 1.0) * size - 1.0) / 2.0, x.like(size / 2)};
  }

  GridSamplerCoordinate pad(const GridSamplerCoordinate& p) const {
    if (padding_ == Padding::zeros) return p;
    return clipped(padding_ == Padding::reflection ? reflected(p) : p);
  }

  GridSamplerCoordinate clipped(const GridSamplerCoordinate& p) const {
    const ScalarExpr zero = p.at.like(0), last = p.at.like(static_cast<double>(size_ - 1));
    const ScalarExpr low = !(p.at > 0.0), high = p.at >= last;
    return {select(low, zero, select(high, last, p.at)), select(low | high, zero, p.slope)};
  }

  // Reflects at the centers of the border elements (aligned corners), or half an element beyond
  // them.
  GridSamplerCoordinate reflected(const GridSamplerCoordinate& p) const {
    const double low = align_ ? 0 : -0.5;
    const auto span = static_cast<double>(align_ ? size_ - 1 : size_);
    if (span <= 0) return {p.at.like(0), p.at.like(0)};
    const ScalarExpr distance = abs(p.at - low);
    const ScalarExpr slope = select(p.at < low, -p.slope, p.slope);
    const ScalarExpr extra = rem(distance, span);
    const ScalarExpr even = rem(floor(distance / span), 2.0) == 0.0;
    return {select(even, extra + low, span - extra + low), select(even, slope, -slope)};
  }

  // Coordinates beyond the index range count as far outside.
  static GridSamplerCoordinate finite(const GridSamplerCoordinate& p) {
    const ScalarExpr near = abs(p.at) < 1e9;
    return {select(near, p.at, p.at.like(-100)), select(near, p.slope, p.at.like(0))};
  }

  std::vector<GridSamplerTap> cubic(const GridSamplerCoordinate& position) const {
    const GridSamplerCoordinate p = finite(position);
    const ScalarExpr lower = floor(p.at);
    const ScalarExpr part = (p.at - lower).to(type_);
    std::vector<GridSamplerTap> taps;
    for (int k = -1; k <= 2; ++k) {
      const GridSamplerCoordinate at = pad({lower + static_cast<double>(k), p.at.like(1)});
      const ScalarExpr x = part - static_cast<double>(k);
      const ScalarExpr transposed = select(x < 0.0, -slope(abs(x)), slope(abs(x)));
      taps.push_back(tap(at.at, weight(abs(x)), transposed * p.slope.to(type_)));
    }
    return taps;
  }

  // Keys' cubic convolution (1981) and its derivative.
  static constexpr double kA = -0.75;
  static ScalarExpr weight(const ScalarExpr& x) {
    const ScalarExpr near = ((kA + 2) * x - (kA + 3)) * x * x + 1.0;
    return select(x <= 1.0, near, ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA);
  }
  static ScalarExpr slope(const ScalarExpr& x) {
    const ScalarExpr near = (3 * (kA + 2) * x - 2 * (kA + 3)) * x;
    return select(x <= 1.0, near, (3 * kA * x - 10 * kA) * x + 8 * kA);
  }

  Lowering& lowering_;
  const DType type_;  // of the weights
  const std::int64_t size_;
  const bool align_;
  const Interpolation interpolation_;
  const Padding padding_;
};

// Planes [N, C, sizes...], and grids [N, sampled..., coordinates]. Coordinates name x first: the
// last one belongs to the first dimension.
struct Sampling {
  const Nest& nest;
  std::size_t dims;
  Shape plane, sampled;
  std::int64_t samples, channels;
  DType type;

  explicit Sampling(const Nest& n)
      : nest(n),
        dims(n.shape_of("input").size() - 2),
        plane(n.shape_of("input").begin() + 2, n.shape_of("input").end()),
        sampled(n.shape_of("grid").begin() + 1, n.shape_of("grid").end() - 1),
        samples(n.shape_of("input")[0]),
        channels(n.shape_of("input")[1]),
        type(n.computing(n.dtype_of("input"))) {}

  using Taps = std::vector<std::vector<GridSamplerTap>>;  // by dimension
  Taps taps(const Index& sample, const Indices& position) const {
    const DType of_positions = nest.dtype_of("input") == DType::f64 ? DType::f64 : DType::f32;
    Taps all;
    for (std::size_t d = 0; d < dims; ++d) {
      Indices at{sample};
      at.insert(at.end(), position.begin(), position.end());
      at.push_back(static_cast<std::int64_t>(dims - 1 - d));
      const ScalarExpr x = nest.raw("grid", at).to(of_positions);
      all.push_back(GridSamplerAxis(nest, plane[d]).taps(x));
    }
    return all;
  }

  // Reads an element of the plane, given a tap for each dimension.
  struct Corner {
    std::vector<const GridSamplerTap*> taps;

    Indices position() const {
      Indices at;
      for (const GridSamplerTap* tap : taps) at.push_back(tap->position);
      return at;
    }
    ScalarExpr inside() const {
      ScalarExpr all = taps[0]->inside;
      for (std::size_t d = 1; d < taps.size(); ++d) all = all & taps[d]->inside;
      return all;
    }
    // The product of the weights, with the slope in place of the weight of one dimension.
    ScalarExpr weight(std::optional<std::size_t> sloped = {}) const {
      std::optional<ScalarExpr> product;
      for (std::size_t d = 0; d < taps.size(); ++d) {
        const ScalarExpr& factor = sloped == d ? taps[d]->slope : taps[d]->weight;
        product = product ? *product * factor : factor;
      }
      return *product;
    }
  };
  static void for_each_corner(const Taps& taps, const std::function<void(const Corner&)>& visit) {
    const std::function<void(Corner)> add = [&](const Corner& corner) {
      if (corner.taps.size() == taps.size()) return visit(corner);
      for (const GridSamplerTap& tap : taps[corner.taps.size()]) {
        Corner next = corner;
        next.taps.push_back(&tap);
        add(next);
      }
    };
    add({});
  }

  Indices in_plane(const Index& sample, const Index& channel, const Indices& position) const {
    Indices at{sample, channel};
    at.insert(at.end(), position.begin(), position.end());
    return at;
  }
  ScalarExpr input(const Indices& at, const ScalarExpr& inside) const {
    return nest.raw_where("input", at, inside).to(type);
  }
};

void sample(const Nest& nest) {
  const Sampling s(nest);
  const Layout out = output_layout(nest.type());
  nest.lowering.for_each(out.shape, out.strides, [&](const Indices& at) {
    const Sampling::Taps taps = s.taps(at[0], Indices(at.begin() + 2, at.end()));
    ScalarExpr sum = nest.lowering.constant(s.type, 0);
    Sampling::for_each_corner(taps, [&](const Sampling::Corner& corner) {
      const ScalarExpr x = s.input(s.in_plane(at[0], at[1], corner.position()), corner.inside());
      sum = sum + corner.weight() * x;
    });
    nest.lowering.write(nest.output(), at, sum);
  });
}

// Planes are parallel. Positions of one plane may share elements, and run serially.
void write_input_gradient(const Sampling& s) {
  const Nest& nest = s.nest;
  Builder& builder = nest.lowering.builder();
  const Layout whole = output_layout(nest.type());
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(), at, nest.lowering.constant(s.type, 0));
  });
  const std::size_t depth = builder.depth();
  const Shape planes{s.samples, s.channels};
  const Index number = builder.open_loop("i", element_count(planes), Builder::Order::parallel);
  const Indices plane = delinearize(number, planes, builder);
  const Indices position =
      delinearize(builder.open_loop("j", element_count(s.sampled)), s.sampled, builder);
  const ScalarExpr grad =
      nest.real("grad_output", s.in_plane(plane[0], plane[1], position)).to(s.type);
  const Sampling::Taps taps = s.taps(plane[0], position);
  Sampling::for_each_corner(taps, [&](const Sampling::Corner& corner) {
    const std::size_t outside = builder.depth();
    const ScalarExpr added{&builder, (corner.weight() * grad).id()};
    builder.open_if(corner.inside().id());
    nest.lowering.combine_into(nest.output(), s.in_plane(plane[0], plane[1], corner.position()),
                               Combine::add, added);
    builder.close_to(outside);
  });
  builder.close_to(depth);
}

// The gradient of each coordinate sums over the channels.
void write_grid_gradient(const Sampling& s) {
  const Nest& nest = s.nest;
  Builder& builder = nest.lowering.builder();
  Shape positions{s.samples};
  positions.insert(positions.end(), s.sampled.begin(), s.sampled.end());
  const std::size_t depth = builder.depth();
  const Index i = builder.open_loop("i", element_count(positions), Builder::Order::parallel);
  const Indices at = delinearize(i, positions, builder);
  const Indices position(at.begin() + 1, at.end());
  const Sampling::Taps taps = s.taps(at[0], position);
  std::vector<AccumulatorId> sums;
  for (std::size_t d = 0; d < s.dims; ++d)
    sums.push_back(
        builder.accumulator("slope", Combine::add, nest.lowering.constant(s.type, 0).id(), 1));
  const std::size_t inside = builder.depth();
  const Index channel = builder.open_loop("c", s.channels);
  const ScalarExpr grad = nest.real("grad_output", s.in_plane(at[0], channel, position)).to(s.type);
  Sampling::for_each_corner(taps, [&](const Sampling::Corner& corner) {
    const ScalarExpr x = s.input(s.in_plane(at[0], channel, corner.position()), corner.inside());
    for (std::size_t d = 0; d < s.dims; ++d)
      builder.update(sums[d], (corner.weight(d) * (x * grad)).id());
  });
  builder.close_to(inside);
  for (std::size_t d = 0; d < s.dims; ++d) {
    Indices to = at;
    to.push_back(static_cast<std::int64_t>(s.dims - 1 - d));
    nest.lowering.write(nest.output(1), to, {&builder, builder.read(sums[d])});
  }
  builder.close_to(depth);
}

void sample_backward_grid_sampler(const Nest& nest) {
  const Sampling s(nest);
  if (nest.is_requested(0)) write_input_gradient(s);
  if (nest.is_requested(1)) write_grid_gradient(s);
}

std::optional<std::string> nothing_to_sample(const Call& call) {
  if (element_count(call.tensor("input").shape) == 0) return "planes without elements";
  return std::nullopt;
}

}  // namespace

void add_grid_sampler_nests(NestTable& table) {
  for (const Op op : {Op::grid_sampler, Op::grid_sampler_2d, Op::grid_sampler_3d})
    table.push_back({op, sample, nothing_to_sample});
  for (const Op op : {Op::grid_sampler_2d_backward, Op::grid_sampler_3d_backward})
    table.push_back({op, sample_backward_grid_sampler, nothing_to_sample});
}

}  // namespace recut::loop

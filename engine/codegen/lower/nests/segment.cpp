// segment_reduce: reductions of segments of an axis, whose lengths are data.
#include <cmath>

#include "engine/codegen/lower/nests/iteration.h"

namespace recut::loop {
namespace {

enum class Reduce { sum, mean, max, min, prod };

Reduce reduction_of(const Call& call) {
  const std::string_view name = call.text("reduce");
  if (name == "mean") return Reduce::mean;
  if (name == "max") return Reduce::max;
  if (name == "min") return Reduce::min;
  return name == "prod" ? Reduce::prod : Reduce::sum;
}

double initial_of(const Call& call, Reduce reduce) {
  if (call.given("initial")) return call.scalar("initial").real;
  if (reduce == Reduce::max) return -HUGE_VAL;
  if (reduce == Reduce::min) return HUGE_VAL;
  return reduce == Reduce::prod ? 1 : 0;
}

// For extremes the later of two NaNs wins.
ScalarExpr combined(Reduce reduce, const ScalarExpr& a, const ScalarExpr& x) {
  switch (reduce) {
    case Reduce::max:
      return select(is_nan(x) | (x > a), x, a);
    case Reduce::min:
      return select(is_nan(x) | (x < a), x, a);
    case Reduce::prod:
      return a * x;
    default:
      return a + x;
  }
}

// A segment's first element on the axis, and its length.
struct Segment {
  ScalarExpr first, count;
};

// Segments of `data` by lengths or offsets, which have the dimensions before the axis and one more.
struct Segments {
  const Nest& nest;
  std::size_t axis;
  std::int64_t extent, count;
  bool by_length;

  explicit Segments(const Nest& n)
      : nest(n),
        axis(n.dimension("axis", n.shape_of("data").size())),
        extent(n.shape_of("data")[axis]),
        count(0),
        by_length(n.has("lengths")) {
    count = nest.shape_of(list()).back() - (by_length ? 0 : 1);
  }

  std::string_view list() const { return by_length ? "lengths" : "offsets"; }
  ScalarExpr number(const Indices& outer, const Index& k) const {
    Indices at = outer;
    at.push_back(k);
    const ScalarExpr given = nest.raw(list(), at).to(DType::i64);
    return nest.lowering.number(nest.checked(given, extent + 1, false));
  }

  // Segment `k` at this index of the dimensions before the axis.
  Segment segment(const Indices& outer, const Index& k) const {
    Builder& builder = nest.lowering.builder();
    const ScalarExpr first = by_length ? sum_before(outer, k) : number(outer, k);
    const ScalarExpr size = by_length ? number(outer, k) : number(outer, k + Index(1)) - first;
    const Index fits = nest.checked(size, extent + 1, false);
    nest.checked(first + size, extent + 1, false);
    return {{&builder, first.id()}, {&builder, nest.lowering.number(fits).id()}};
  }

  // The index of element k of segment `s`; other dimensions are those of `at`.
  Indices element(const Indices& at, const Segment& s, const Index& k) const {
    Indices position = at;
    position[axis] = nest.checked(s.first + nest.lowering.number(k), extent, false);
    return position;
  }

 private:
  ScalarExpr sum_before(const Indices& outer, const Index& k) const {
    Builder& builder = nest.lowering.builder();
    const AccumulatorId sum = builder.accumulator("first", Combine::add,
                                                  builder.constant(DType::i64, std::int64_t{0}), 1);
    const std::size_t depth = builder.depth();
    const Index before = builder.open_loop("s", count);
    const ScalarExpr length = number(outer, before);
    const ScalarExpr counts = nest.lowering.number(before) < nest.lowering.number(k);
    builder.update(sum, select(counts, length, length.like(0)).id());
    builder.close_to(depth);
    return {&builder, builder.read(sum)};
  }
};

// Calls step(index, k) for the elements of a segment, serially.
void each_element(const Iteration& work, const Segments& segments, const Indices& at,
                  const Segment& s, const std::function<void(const Indices&, const Index&)>& step) {
  const Scratch done(work.builder, "done", DType::i64, 1);
  done.write(0, s.count.like(0));
  work.each_while(
      segments.extent, [&] { return done.read(0) < s.count; },
      [&](const Index& k) {
        done.write(0, work.nest.lowering.number(k) + 1.0);
        step(segments.element(at, s, k), k);
      });
}

void segment_reduce(const Nest& nest) {
  const Iteration work(nest);
  const Segments segments(nest);
  const Reduce reduce = reduction_of(nest.call);
  work.for_each_element([&](const Indices& at) {
    const Indices outer(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(segments.axis));
    const Segment s = segments.segment(outer, at[segments.axis]);
    const Scratch value = work.number("value", work.real(initial_of(nest.call, reduce)));
    each_element(work, segments, at, s, [&](const Indices& position, const Index&) {
      const ScalarExpr x = nest.raw("data", position).to(DType::f64);
      value.write(0, combined(reduce, value.read(0), x));
    });
    ScalarExpr result = value.read(0);
    if (reduce == Reduce::mean) {
      const ScalarExpr none = nest.call.given("initial") ? result : result.like(std::nan(""));
      const ScalarExpr count = larger(s.count, 1.0).to(DType::f64);
      result = select(s.count == 0.0, none, result / count);
    }
    nest.lowering.write(nest.output(), at, result);
  });
}

// Gradients
// ---------

// The gradient of one segment along a line of the axis.
class SegmentGradient {
 public:
  SegmentGradient(const Iteration& w, const Segments& s, Reduce reduce)
      : work(w), segments(s), reduce_(reduce) {}

  void write(const Indices& line, const Segment& s, const Index& k) const {
    Indices of = line;
    of[segments.axis] = k;
    const ScalarExpr grad{&work.builder, raw("grad", of).id()};
    const bool extreme = reduce_ == Reduce::max || reduce_ == Reduce::min;
    const ScalarExpr best = extreme ? raw("output", of) : grad;
    const ScalarExpr ties = extreme ? count_ties(line, s, best) : s.count.to(DType::f64);
    each_element(work, segments, line, s, [&](const Indices& position, const Index& step) {
      ScalarExpr g = grad;
      if (extreme) g = select(shares(position, best), grad / ties, grad.like(0));
      if (reduce_ == Reduce::mean) g = grad / ties;
      if (reduce_ == Reduce::prod) g = grad * product_without(line, s, step);
      work.nest.lowering.write(work.nest.output(), position, g);
    });
  }

 private:
  ScalarExpr raw(std::string_view parameter, const Indices& at) const {
    return work.nest.raw(parameter, at).to(DType::f64);
  }
  // Elements that equal the extreme share the gradient.
  ScalarExpr shares(const Indices& position, const ScalarExpr& best) const {
    const ScalarExpr x = raw("data", position);
    return is_nan(x) | (x == best);
  }
  ScalarExpr count_ties(const Indices& line, const Segment& s, const ScalarExpr& best) const {
    const Scratch count = work.number("ties", work.real(0));
    each_element(work, segments, line, s, [&](const Indices& position, const Index&) {
      count.write(0, count.read(0) + shares(position, best).to(DType::f64));
    });
    return count.read(0);
  }
  // The product of all elements but one, times the initial value.
  ScalarExpr product_without(const Indices& line, const Segment& s, const Index& skipped) const {
    const Scratch product = work.number("product", work.real(initial_of(work.nest.call, reduce_)));
    each_element(work, segments, line, s, [&](const Indices& position, const Index& step) {
      const ScalarExpr other = work.as_real(step) != work.as_real(skipped);
      const ScalarExpr x = raw("data", position);
      product.write(0, product.read(0) * select(other, x, x.like(1)));
    });
    return product.read(0);
  }

  const Iteration& work;
  const Segments& segments;
  const Reduce reduce_;
};

// Lines along the axis are parallel. Elements outside of segments have the gradient 0.
void segment_reduce_backward(const Nest& nest) {
  const Iteration work(nest);
  const Segments segments(nest);
  const SegmentGradient gradient(work, segments, reduction_of(nest.call));
  Builder& builder = nest.lowering.builder();
  const Layout whole = output_layout(nest.type());
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(), at, nest.lowering.constant(DType::f64, 0));
  });
  Shape lines = nest.type().shape;
  lines[segments.axis] = 1;
  const std::size_t depth = builder.depth();
  const Index i = builder.open_any_loop("i", element_count(lines), Builder::Order::parallel);
  const Indices line = delinearize(i, lines, builder);
  const Indices outer(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(segments.axis));
  const Index k = builder.open_loop("k", segments.count);
  gradient.write(line, segments.segment(outer, k), k);
  builder.close_to(depth);
}

std::optional<std::string> empty_axis(const Call& call) {
  if (element_count(call.tensor("data").shape) == 0) return "data without elements";
  return std::nullopt;
}

}  // namespace

void add_segment_nests(NestTable& table) {
  table.push_back({Op::segment_reduce, segment_reduce, empty_axis});
  table.push_back({Op::_segment_reduce_backward, segment_reduce_backward, empty_axis});
}

}  // namespace recut::loop

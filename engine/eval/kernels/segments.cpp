// Segment reductions along an axis, by lengths or offsets. Segments are validated first: each must
// lie within the axis. The gradient of max and min is shared by all elements that reach the
// extreme.
#include <fmt/core.h>

#include <cmath>

#include "engine/eval/kernel.h"

namespace recut {
namespace {

// Data as [outer, axis, inner]; `begin` and `end` of segment s of outer o stand at o * count + s.
struct Segments {
  std::int64_t outer = 1, extent = 0, inner = 1, count = 0;
  std::vector<std::int64_t> begin, end;
};

Result<Segments> read_segments(const KernelContext& c, const Shape& data) {
  Segments s;
  const auto axis = static_cast<std::size_t>(
      wrap_dimension(c.call.integer("axis"), static_cast<std::int64_t>(data.size())).value());
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (i < axis) s.outer *= data[i];
    if (i > axis) s.inner *= data[i];
  }
  s.extent = data[axis];
  const bool by_length = c.call.is_tensor("lengths");
  const Integers given = c.integers(by_length ? "lengths" : "offsets");
  const std::int64_t numbers = given.shape.back();
  s.count = by_length ? numbers : numbers - 1;
  for (std::int64_t o = 0; o < s.outer; ++o) {
    std::int64_t at = 0;
    for (std::int64_t k = 0; k < s.count; ++k) {
      const std::int64_t number = given[o * numbers + k];
      const std::int64_t first = by_length ? at : number;
      // A length beyond the axis is caught before it is added.
      const bool fits = number >= 0 && number <= s.extent;
      const std::int64_t last = by_length ? (fits ? at + number : -1) : given[o * numbers + k + 1];
      if (!fits || first < 0 || last < first || last > s.extent)
        return error(fmt::format("segment {} is no part of an axis of {}", k, s.extent));
      s.begin.push_back(first);
      s.end.push_back(last);
      at = last;
    }
  }
  return s;
}

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
  if (reduce == Reduce::max) return -INFINITY;
  if (reduce == Reduce::min) return INFINITY;
  return reduce == Reduce::prod ? 1 : 0;
}

double combine(Reduce reduce, double a, double x) {
  switch (reduce) {
    case Reduce::max:
      return std::isnan(x) || x > a ? x : a;
    case Reduce::min:
      return std::isnan(x) || x < a ? x : a;
    case Reduce::prod:
      return a * x;
    default:
      return a + x;
  }
}

// Calls visit(flat segment, first element, elements) for every segment and inner index.
template <class Visit>
void for_each_segment(const Segments& s, Visit&& visit) {
  for (std::int64_t o = 0; o < s.outer; ++o)
    for (std::int64_t k = 0; k < s.count; ++k)
      for (std::int64_t i = 0; i < s.inner; ++i) {
        const auto at = static_cast<std::size_t>(o * s.count + k);
        visit((o * s.count + k) * s.inner + i, (o * s.extent + s.begin[at]) * s.inner + i,
              s.end[at] - s.begin[at]);
      }
}

Result<Done> segment_reduce(KernelContext& c) {
  const Reals data = c.reals("data");
  const auto segments = read_segments(c, data.shape);
  if (!segments) return segments.diagnostics();
  const Reduce reduce = reduction_of(c.call);
  Reals out(c.output_types[0].shape);
  for_each_segment(*segments, [&](std::int64_t to, std::int64_t first, std::int64_t count) {
    double value = initial_of(c.call, reduce);
    for (std::int64_t k = 0; k < count; ++k)
      value = combine(reduce, value, data[first + k * segments->inner]);
    if (reduce == Reduce::mean && count > 0) value /= static_cast<double>(count);
    if (reduce == Reduce::mean && count == 0 && !c.call.given("initial")) value = std::nan("");
    out[to] = value;
  });
  c.write(out);
  return Done{};
}

// The largest or smallest elements share their segment's gradient.
void share(const Reals& data, double extreme, double grad, std::int64_t first, std::int64_t count,
           std::int64_t step, Reals& out) {
  std::int64_t sharers = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const double x = data[first + k * step];
    if (std::isnan(x) || x == extreme) ++sharers;
  }
  for (std::int64_t k = 0; k < count; ++k) {
    const double x = data[first + k * step];
    if (std::isnan(x) || x == extreme) out[first + k * step] = grad / static_cast<double>(sharers);
  }
}

// The product of all but element `skipped`, times the initial value.
double product_without(const Reals& data, double initial, std::int64_t first, std::int64_t count,
                       std::int64_t step, std::int64_t skipped) {
  double product = initial;
  for (std::int64_t k = 0; k < count; ++k)
    if (k != skipped) product *= data[first + k * step];
  return product;
}

Result<Done> segment_reduce_backward(KernelContext& c) {
  const Reals data = c.reals("data");
  const Reals grad = c.reals("grad");
  const Reals output = c.reals("output");
  const auto segments = read_segments(c, data.shape);
  if (!segments) return segments.diagnostics();
  const Reduce reduce = reduction_of(c.call);
  const double initial = initial_of(c.call, Reduce::prod);
  const std::int64_t step = segments->inner;
  Reals out(data.shape);
  for_each_segment(*segments, [&](std::int64_t at, std::int64_t first, std::int64_t count) {
    if (reduce == Reduce::max || reduce == Reduce::min) {
      share(data, output[at], grad[at], first, count, step, out);
      return;
    }
    for (std::int64_t k = 0; k < count; ++k) {
      double g = grad[at];
      if (reduce == Reduce::mean) g /= static_cast<double>(count);
      if (reduce == Reduce::prod) g *= product_without(data, initial, first, count, step, k);
      out[first + k * step] = g;
    }
  });
  c.write(out);
  return Done{};
}

}  // namespace

void add_segment_kernels(KernelTable& t) {
  t.add(Op::segment_reduce, segment_reduce);
  t.add(Op::_segment_reduce_backward, segment_reduce_backward);
}

}  // namespace recut

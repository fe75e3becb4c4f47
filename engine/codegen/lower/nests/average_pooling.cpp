// Average pooling and its gradient, and adaptive poolings, whose windows are chosen so that a given
// number of them covers the plane.
#include "engine/codegen/lower/nests/pooling.h"

namespace recut::loop {
namespace {

// Sliding windows
// ---------------

// The divisor of a window's sum: its elements, with padding (but not beyond it in a last window of
// ceil_mode) or without.
ScalarExpr divisor(const Nest& nest, const Pooling& p, const Indices& window, DType type) {
  Lowering& lowering = nest.lowering;
  if (nest.call.op().parameter("divisor_override") && nest.call.given("divisor_override"))
    return lowering.constant(type, static_cast<double>(nest.call.integer("divisor_override")));
  const bool with_padding = nest.call.boolean("count_include_pad");
  ScalarExpr count = ScalarExpr::constant(&lowering.builder(), DType::i64, std::int64_t{1});
  for (std::size_t d = 0; d < p.dims; ++d) {
    const std::int64_t beside = with_padding ? p.window_config.padding[d] : 0;
    const Index begin = p.window_config.stride[d] * window[d] - Index(p.window_config.padding[d]);
    const ScalarExpr first = larger(lowering.number(begin), static_cast<double>(-beside));
    const ScalarExpr last = smaller(lowering.number(begin + Index(p.window_config.kernel[d])),
                                    static_cast<double>(p.plane[d] + beside));
    count = count * (last - first);
  }
  return count.to(type);
}

void avg_pool(const Nest& nest) {
  const Pooling p(nest, nest.shape_of("self"), nest.type().shape);
  const DType type = nest.computing(nest.dtype_of("self"));
  const ReductionSpace space = p.space();
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const ScalarExpr sum = reducer.reduce(
        {"sum", Combine::add, nest.lowering.constant(type, 0), [&](const Indices& at) {
           const GuardedPosition f =
               plane_position(nest.lowering, p.window_config, p.window(at), p.offset(at), p.plane);
           return f.element(nest, "self", p.of_plane(at, f.position)).to(type);
         }});
    const Indices window = p.window(reducer.at());
    nest.lowering.write(nest.output(), p.of_plane(reducer.at(), window),
                        sum / divisor(nest, p, window, type));
  });
}

// kept: outer, position; reduced: offset in the windows that overlap the position.
void avg_pool_backward(const Nest& nest) {
  const Pooling p(nest, nest.type().shape, nest.shape_of("grad_output"));
  const DType type = nest.computing(nest.dtype_of("grad_output"));
  const ReductionSpace space = p.space(p.plane, p.window_config.kernel);
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const ScalarExpr sum = reducer.reduce(
        {"sum", Combine::add, nest.lowering.constant(type, 0), [&](const Indices& at) {
           const GuardedPosition f = window_position(nest.lowering, p.window_config, p.window(at),
                                                     p.offset(at), p.windows);
           const ScalarExpr grad =
               f.element(nest, "grad_output", p.of_plane(at, f.position)).to(type);
           const ScalarExpr share = grad / divisor(nest, p, f.position, type);
           return f.inside ? select(*f.inside, share, grad.like(0)) : share;
         }});
    nest.lowering.write(nest.output(), p.of_plane(reducer.at(), p.window(reducer.at())), sum);
  });
}

// Adaptive windows
// ----------------

// Window i of `count` over `size` elements is [floor(i size / count), ceil((i + 1) size / count)).
// The windows that overlap an element are its own adaptive window over the windows.
struct Adaptive {
  Shape counts, sizes;  // one a dimension

  // The maximal size of a window.
  Shape longest() const {
    Shape out;
    for (std::size_t d = 0; d < counts.size(); ++d) {
      std::int64_t most = 0;
      for (std::int64_t i = 0; i < counts[d]; ++i)
        most = std::max(most, floor_quotient((i + 1) * sizes[d] + counts[d] - 1, counts[d]) -
                                  floor_quotient(i * sizes[d], counts[d]));
      out.push_back(most);
    }
    return out;
  }
  Index first(Builder& builder, std::size_t d, const Index& window) const {
    return builder.quotient(sizes[d] * window, counts[d]);
  }
  Index end(Builder& builder, std::size_t d, const Index& window) const {
    return builder.quotient(sizes[d] * window + Index(sizes[d] + counts[d] - 1), counts[d]);
  }
  // The element `offset` of a window, if it has that many.
  GuardedPosition element(Lowering& lowering, const Indices& window, const Indices& offset) const {
    GuardedPosition out;
    for (std::size_t d = 0; d < counts.size(); ++d) {
      Builder& builder = lowering.builder();
      const Index at = first(builder, d, window[d]) + offset[d];
      out.position.push_back(at);
      if (sizes[d] % counts[d] == 0) continue;
      const ScalarExpr inside = lowering.number(at - end(builder, d, window[d])) < 0.0;
      out.inside = out.inside ? *out.inside & inside : inside;
    }
    return out;
  }
  ScalarExpr count(Lowering& lowering, const Indices& window, DType type) const {
    ScalarExpr all = ScalarExpr::constant(&lowering.builder(), DType::i64, std::int64_t{1});
    for (std::size_t d = 0; d < counts.size(); ++d)
      all = all * lowering.number(end(lowering.builder(), d, window[d]) -
                                  first(lowering.builder(), d, window[d]));
    return all.to(type);
  }
};

void adaptive_avg_pool(const Nest& nest) {
  const Pooling p(nest, nest.shape_of("self"), nest.type().shape);
  const Adaptive a{p.windows, p.plane};
  const DType type = nest.computing(nest.dtype_of("self"));
  const ReductionSpace space = p.space(p.windows, a.longest());
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const ScalarExpr sum = reducer.reduce(
        {"sum", Combine::add, nest.lowering.constant(type, 0), [&](const Indices& at) {
           const GuardedPosition f = a.element(nest.lowering, p.window(at), p.offset(at));
           return f.element(nest, "self", p.of_plane(at, f.position)).to(type);
         }});
    const Indices window = p.window(reducer.at());
    nest.lowering.write(nest.output(), p.of_plane(reducer.at(), window),
                        sum / a.count(nest.lowering, window, type));
  });
}

void adaptive_avg_pool_backward(const Nest& nest) {
  const Pooling p(nest, nest.type().shape, nest.shape_of("grad_output"));
  const Adaptive forward{p.windows, p.plane}, holding{p.plane, p.windows};
  const DType type = nest.computing(nest.dtype_of("grad_output"));
  const ReductionSpace space = p.space(p.plane, holding.longest());
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const ScalarExpr sum = reducer.reduce(
        {"sum", Combine::add, nest.lowering.constant(type, 0), [&](const Indices& at) {
           const GuardedPosition f = holding.element(nest.lowering, p.window(at), p.offset(at));
           const ScalarExpr grad =
               f.element(nest, "grad_output", p.of_plane(at, f.position)).to(type);
           return grad / forward.count(nest.lowering, f.position, type);
         }});
    nest.lowering.write(nest.output(), p.of_plane(reducer.at(), p.window(reducer.at())), sum);
  });
}

// The maximum and its row-major index in the plane.
void adaptive_max_pool(const Nest& nest) {
  const Pooling p(nest, nest.shape_of("self"), nest.type().shape);
  const Adaptive a{p.windows, p.plane};
  const DType type = nest.computing(nest.dtype_of("self"));
  const ScalarExpr least = nest.lowering.constant(type, -HUGE_VAL);
  const ReductionSpace space = p.space(p.windows, a.longest());
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const auto element = [&](const Indices& at, const GuardedPosition& f) {
      const ScalarExpr x = f.element(nest, "self", p.of_plane(at, f.position)).to(type);
      return f.inside ? select(*f.inside, x, least) : x;
    };
    const auto guarded = [&](const Indices& at) {
      return a.element(nest.lowering, p.window(at), p.offset(at));
    };
    const ScalarExpr largest =
        reducer.reduce({"largest", Combine::max, least,
                        [&](const Indices& at) { return element(at, guarded(at)); }});
    const ScalarExpr position = position_of_largest(reducer, largest, [&](const Indices& at) {
      const GuardedPosition f = guarded(at);
      return Candidate{element(at, f), linearize(f.position, p.plane), f.inside};
    });
    const Indices out = p.of_plane(reducer.at(), p.window(reducer.at()));
    if (nest.is_requested(0)) nest.lowering.write(nest.output(0), out, largest);
    if (nest.is_requested(1)) nest.lowering.write(nest.output(1), out, position);
  });
}

}  // namespace

void add_average_pooling_nests(NestTable& table) {
  for (const Op op : {Op::avg_pool1d, Op::avg_pool2d, Op::avg_pool3d})
    table.push_back({op, avg_pool});
  for (const Op op : {Op::avg_pool2d_backward, Op::avg_pool3d_backward})
    table.push_back({op, avg_pool_backward});
  for (const Op op : {Op::_adaptive_avg_pool2d, Op::_adaptive_avg_pool3d, Op::adaptive_avg_pool1d,
                      Op::adaptive_avg_pool2d, Op::adaptive_avg_pool3d})
    table.push_back({op, adaptive_avg_pool});
  for (const Op op : {Op::_adaptive_avg_pool2d_backward, Op::_adaptive_avg_pool3d_backward})
    table.push_back({op, adaptive_avg_pool_backward});
  for (const Op op : {Op::adaptive_max_pool1d, Op::adaptive_max_pool2d, Op::adaptive_max_pool3d})
    table.push_back({op, adaptive_max_pool});
}

}  // namespace recut::loop

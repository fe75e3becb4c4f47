// Reductions: sums and moments, extremes and their indices, any and all, norms.
#include <algorithm>

#include "engine/codegen/lower/nests/norm.h"
#include "engine/codegen/lower/nests/safe_scale.h"
#include "engine/fusion/row_fusion.h"

namespace recut::loop {
namespace {

using Totals = RowReduction::Totals;
using Reductions = std::vector<Accumulation>;
using Results = std::vector<ScalarExpr>;

// An element of self as a computation in `dtype` reads it.
ScalarExpr element(const Nest& nest, const Indices& at, DType dtype) {
  return nest.lowering.cast(nest.raw("self", at), nest.dtype_of("self"), dtype);
}

// The number of elements of a row.
double row_length(const Nest& nest) {
  const auto rows = rows_of(nest.lowering.graph(), nest.node);
  double length = 1;
  for (std::size_t d = 0; d < rows->shape.size(); ++d)
    if (rows->reduced[d]) length *= static_cast<double>(rows->shape[d]);
  return length;
}

// A single accumulation of type `in`, and the result from its total.
template <class Term, class Finish>
RowReduction one_total(const Nest& nest, Combine how, double initial, Term term, Finish finish,
                       DType in) {
  const DType dtype = nest.type().dtype;
  const auto term_at = [&nest, dtype, in, term](const Indices& at) {
    return term(element(nest, at, dtype).to(in));
  };
  const auto pass = [&nest, how, initial, in, term_at](const Totals&) {
    return Reductions{{"total", how, nest.lowering.constant(in, initial), term_at}};
  };
  const DType type = nest.computing(dtype);
  return {{pass},
          [finish, type](const Totals& totals) { return Results{finish(totals[0]).to(type)}; }};
}
template <class Term, class Finish>
RowReduction one_total(const Nest& nest, Combine how, double initial, Term term, Finish finish) {
  return one_total(nest, how, initial, term, finish, nest.computing(nest.type().dtype));
}

ScalarExpr as_it_is(const ScalarExpr& x) { return x; }

RowReduction sum(const Nest& nest) { return one_total(nest, Combine::add, 0, as_it_is, as_it_is); }
RowReduction product(const Nest& nest) {
  return one_total(nest, Combine::mul, 1, as_it_is, as_it_is);
}
RowReduction nansum(const Nest& nest) {
  const auto term = [](const ScalarExpr& x) {
    return x.real() ? select(is_nan(x), x.like(0), x) : x;
  };
  return one_total(nest, Combine::add, 0, term, as_it_is);
}
RowReduction mean(const Nest& nest) {
  return one_total(nest, Combine::add, 0, as_it_is,
                   [length = row_length(nest)](const ScalarExpr& total) { return total / length; });
}

RowReduction nanmean(const Nest& nest) {
  const DType dtype = nest.type().dtype;
  const auto pass = [&nest, dtype](const Totals&) {
    const ScalarExpr zero = nest.lowering.constant(nest.computing(dtype), 0);
    const auto total = [&nest, dtype](const Indices& at) {
      const ScalarExpr x = element(nest, at, dtype);
      return select(is_nan(x), x.like(0), x);
    };
    const auto count = [&nest, dtype](const Indices& at) {
      const ScalarExpr x = element(nest, at, dtype);
      return select(is_nan(x), x.like(0), x.like(1));
    };
    return Reductions{{"total", Combine::add, zero, total}, {"count", Combine::add, zero, count}};
  };
  return {{pass}, [](const Totals& totals) { return Results{totals[0] / totals[1]}; }};
}

// The trace of a matrix.
void trace(const Nest& nest) {
  const Shape& shape = nest.shape_of("self");
  const ReductionSpace space{{std::min(shape[0], shape[1])}, {true}, {1}};
  const DType type = nest.computing(nest.type().dtype);
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const ScalarExpr total = reducer.reduce(
        {"total", Combine::add, nest.lowering.constant(type, 0), [&](const Indices& at) {
           return nest.raw("self", {at[0], at[0]}).to(type);
         }});
    nest.lowering.write(nest.output(), {}, total);
  });
}

// The correction of the element count: `correction`, or 1 where `unbiased`.
double correction_of(const Call& call) {
  if (call.op().parameter("unbiased")) return call.boolean("unbiased") ? 1 : 0;
  return call.given("correction") ? call.scalar("correction").real : 1;
}

// Two passes: the mean and the mean magnitude, then the squares about the mean. `with_mean`: the
// call returns both.
template <bool root, bool with_mean>
RowReduction variance(const Nest& nest) {
  const DType dtype = nest.dtype_of("self");
  const DType type = nest.computing(dtype);
  const bool scales = SafeScale::applies_to(type);
  const double length = row_length(nest);
  const double freedom = std::max(length - correction_of(nest.call), 0.0);
  const auto zero = [&nest, type] { return nest.lowering.constant(type, 0); };
  const auto first = [&nest, dtype, scales, zero](const Totals&) {
    Reductions reductions{{"total", Combine::add, zero(),
                           [&nest, dtype](const Indices& at) { return element(nest, at, dtype); }}};
    if (scales)
      reductions.push_back({"magnitude", Combine::add, zero(), [&nest, dtype](const Indices& at) {
                              return abs(element(nest, at, dtype));
                            }});
    return reductions;
  };
  const auto squares = [&nest, dtype, scales, zero, length](const Totals& totals) {
    const ScalarExpr mean = totals[0] / length;
    const ScalarExpr factor = scales ? SafeScale::of(totals[1] / length).factor : mean.like(1);
    return Reductions{
        {"squares", Combine::add, zero(), [&nest, dtype, scales, mean, factor](const Indices& at) {
           const ScalarExpr off = element(nest, at, dtype) - mean;
           const ScalarExpr near = scales ? off * factor : off;
           return near * near;
         }}};
  };
  return {{first, squares}, [length, freedom, scales](const Totals& totals) {
            ScalarExpr spread = totals.back() / freedom;
            if (root) spread = sqrt(spread);
            if (scales) {
              const ScalarExpr inverse = SafeScale::of(totals[1] / length).inverse;
              spread = root ? spread * inverse : spread * inverse * inverse;
            }
            return with_mean ? Results{spread, totals[0] / length} : Results{spread};
          }};
}

// An infinite maximum is not subtracted: exp gives the right infinities without it.
ScalarExpr finite(const ScalarExpr& most) { return select(is_infinite(most), most.like(0), most); }

RowReduction logsumexp(const Nest& nest) {
  const DType dtype = nest.type().dtype;
  const DType type = nest.computing(dtype);
  const auto largest = [&nest, dtype, type](const Totals&) {
    return Reductions{{"largest", Combine::max, nest.lowering.constant(type, -HUGE_VAL),
                       [&nest, dtype](const Indices& at) { return element(nest, at, dtype); }}};
  };
  const auto total = [&nest, dtype, type](const Totals& totals) {
    const ScalarExpr most = finite(totals[0]);
    return Reductions{
        {"total", Combine::add, nest.lowering.constant(type, 0),
         [&nest, dtype, most](const Indices& at) { return exp(element(nest, at, dtype) - most); }}};
  };
  return {{largest, total},
          [](const Totals& totals) { return Results{log(totals[1]) + finite(totals[0])}; }};
}

// Extremes
// ---------------------------------------------------------------------------------------

enum class Extreme { largest, smallest };

// The extreme value of self (amax and amin).
Accumulation extreme_value(const Nest& nest, Extreme which) {
  const DType dtype = nest.dtype_of("self");
  const DType type = nest.computing(dtype);
  const Combine how = which == Extreme::largest ? Combine::max : Combine::min;
  const Constant least = neutral(how, type);
  const ScalarExpr start =
      is_floating(type) ? nest.lowering.constant(type, least.real)
                        : ScalarExpr::constant(&nest.lowering.builder(), type, least.integer);
  return {which == Extreme::largest ? "largest" : "smallest", how, start,
          [&nest, dtype](const Indices& at) { return element(nest, at, dtype); }};
}

// Along `dim` or in the flattened tensor: the smallest index of an element that equals the extreme,
// or is NaN where that is.
Accumulation extreme_position(const Nest& nest, const ScalarExpr& extreme) {
  const ScalarExpr none =
      ScalarExpr::constant(&nest.lowering.builder(), DType::i64, std::int64_t{INT64_MAX});
  return {
      "place", Combine::min, none, [&nest, extreme, none](const Indices& at) {
        const Shape& shape = nest.shape_of("self");
        const bool along = nest.call.given("dim");
        const std::size_t dim = along ? nest.dimension("dim", shape.size()) : 0;
        const ScalarExpr x = element(nest, at, nest.dtype_of("self"));
        ScalarExpr here = x == extreme;
        if (x.real()) here = here | (is_nan(x) & is_nan(extreme));
        const Index position = shape.empty() ? Index(0) : along ? at[dim] : linearize(at, shape);
        return select(here, nest.lowering.number(position), none);
      }};
}

template <Extreme which>
RowReduction extreme(const Nest& nest) {
  return {{[&nest](const Totals&) { return Reductions{extreme_value(nest, which)}; }},
          [](const Totals& totals) { return Results{totals[0]}; }};
}

RowReduction both_extremes(const Nest& nest) {
  const auto pass = [&nest](const Totals&) {
    return Reductions{extreme_value(nest, Extreme::smallest),
                      extreme_value(nest, Extreme::largest)};
  };
  return {{pass}, [](const Totals& totals) { return Results{totals[0], totals[1]}; }};
}

// The extreme and its index; `with_value`: the call returns both.
template <Extreme which, bool with_value>
RowReduction extreme_and_position(const Nest& nest) {
  const auto value = [&nest](const Totals&) { return Reductions{extreme_value(nest, which)}; };
  const auto position = [&nest](const Totals& totals) {
    return Reductions{extreme_position(nest, totals[0])};
  };
  return {{value, position}, [](const Totals& totals) {
            return with_value ? Results{totals[0], totals[1]} : Results{totals[1]};
          }};
}

// any and all
// -----------

template <Combine how>
RowReduction truth(const Nest& nest) {
  constexpr DType type = how == Combine::add ? DType::i64 : DType::boolean;
  const auto pass = [&nest](const Totals&) {
    const ScalarExpr start = ScalarExpr::constant(&nest.lowering.builder(), type,
                                                  std::int64_t{how == Combine::bit_and ? 1 : 0});
    return Reductions{{"so_far", how, start, [&nest](const Indices& at) {
                         return nest.raw("self", at).to(DType::boolean).to(type);
                       }}};
  };
  return {{pass}, [](const Totals& totals) { return Results{totals[0]}; }};
}

// Norms
// ------------------------------------------------------------------------------------------

RowReduction norm(const Nest& nest) {
  const bool vector = nest.call.op().parameter("ord").has_value();
  const auto given = nest.call.maybe_scalar(vector ? "ord" : "p");
  const Norm by{given ? given->real : 2};
  return one_total(
      nest, by.combine(), by.initial(), [=](const ScalarExpr& x) { return by.term(x); },
      [=](const ScalarExpr& total) { return by.finish(total); },
      by.total(nest.computing(nest.type().dtype)));
}

void dist(const Nest& nest) {
  const Norm by{nest.call.scalar("p").real};
  const DType dtype = nest.type().dtype;
  const Shape shape = broadcast(nest.shape_of("self"), nest.shape_of("other")).value();
  const auto element = [&](std::string_view parameter, const Indices& at) {
    const ScalarExpr x = nest.raw(parameter, broadcast_index(at, nest.shape_of(parameter)));
    return nest.lowering.cast(x, nest.dtype_of(parameter), dtype);
  };
  const ReductionSpace space{shape, std::vector<bool>(shape.size(), true),
                             contiguous_strides(shape)};
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const DType in = by.total(nest.computing(dtype));
    const ScalarExpr start = nest.lowering.constant(in, by.initial());
    const ScalarExpr total =
        reducer.reduce({"total", by.combine(), start, [&](const Indices& at) {
                          return by.term((element("self", at) - element("other", at)).to(in));
                        }});
    nest.lowering.write(nest.output(), {}, by.finish(total).to(nest.computing(dtype)));
  });
}

// renorm: slices along one dimension are scaled down where their norm exceeds the bound, with
// ATen's small margin.
void renorm(const Nest& nest) {
  const Norm by{nest.call.scalar("p").real};
  const double most = nest.call.scalar("maxnorm").real;
  const Shape& shape = nest.type().shape;
  ReductionSpace space{shape, std::vector<bool>(shape.size(), true),
                       walking_strides(nest.lowering, nest.call.node("self"))};
  space.reduced[nest.dimension("dim", shape.size())] = false;
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const DType type = nest.computing(nest.type().dtype), in = by.total(type);
    const ScalarExpr start = nest.lowering.constant(in, by.initial());
    const ScalarExpr norm =
        by.finish(reducer.reduce({"total", by.combine(), start, [&](const Indices& at) {
                                    return by.term(nest.real("self", at).to(in));
                                  }}));
    const ScalarExpr scale = select(norm > most, most / (norm + 1e-7), norm.like(1)).to(type);
    reducer.for_each([&](const Indices& at) {
      nest.lowering.write(nest.output(), at, nest.real("self", at) * scale);
    });
  });
}

std::optional<std::string> no_slices(const Call& call) {
  const std::int64_t rank = call.tensor("self").rank();
  if (rank < 2 || !wrap_dimension(call.integer("dim"), rank))
    return "slices along a dimension that isn't one of two or more";
  return std::nullopt;
}

void add(NestTable& table, std::initializer_list<Op> ops, RowReductionMaker reduce) {
  for (const Op op : ops) table.push_back({op, nullptr, nullptr, reduce});
}

}  // namespace

void add_reduction_nests(NestTable& table) {
  add(table, {Op::sum, Op::sum_dim_IntList}, sum);
  add(table, {Op::prod, Op::prod_dim_int}, product);
  add(table, {Op::mean, Op::mean_dim}, mean);
  add(table, {Op::var, Op::var_dim, Op::var_correction}, variance<false, false>);
  add(table, {Op::var_mean, Op::var_mean_dim, Op::var_mean_correction}, variance<false, true>);
  add(table, {Op::std, Op::std_dim, Op::std_correction}, variance<true, false>);
  add(table, {Op::std_mean, Op::std_mean_dim, Op::std_mean_correction}, variance<true, true>);
  add(table,
      {Op::norm_Scalar, Op::norm_ScalarOpt_dim, Op::norm_ScalarOpt_dtype,
       Op::norm_ScalarOpt_dim_dtype, Op::linalg_vector_norm},
      norm);
  add(table, {Op::amax, Op::max}, extreme<Extreme::largest>);
  add(table, {Op::amin, Op::min}, extreme<Extreme::smallest>);
  add(table, {Op::any, Op::any_dim, Op::any_dims}, truth<Combine::bit_or>);
  add(table, {Op::all, Op::all_dim, Op::all_dims}, truth<Combine::bit_and>);
  add(table, {Op::count_nonzero, Op::count_nonzero_dim_IntList}, truth<Combine::add>);
  add(table, {Op::nansum}, nansum);
  add(table, {Op::nanmean}, nanmean);
  table.push_back({Op::trace, trace});
  table.push_back({Op::dist, dist});
  table.push_back({Op::renorm, renorm, no_slices});
  add(table, {Op::logsumexp}, logsumexp);
  add(table, {Op::aminmax}, both_extremes);
  add(table, {Op::max_dim}, extreme_and_position<Extreme::largest, true>);
  add(table, {Op::min_dim}, extreme_and_position<Extreme::smallest, true>);
  add(table, {Op::argmax}, extreme_and_position<Extreme::largest, false>);
  add(table, {Op::argmin}, extreme_and_position<Extreme::smallest, false>);
}

}  // namespace recut::loop

// Reductions: sums and moments, extremes and where they stand, truth, norms.
#include <algorithm>

#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

// The reduction of `self` by the call's `dim`.
struct Reduced {
  const Nest& nest;
  std::vector<bool> folded;

  explicit Reduced(const Nest& n, bool empty_folds_all = true)
      : nest(n), folded(folded_dimensions(n.call, n.shape_of("self").size(), empty_folds_all)) {}

  FoldSpace space() const {
    const NodeId self = nest.call.node("self");
    return {nest.shape_of("self"), folded, walking_strides(nest.lowering, self)};
  }

  // self as the computation in `dtype` sees it.
  Quantity element(const Indices& at, DType dtype) const {
    return nest.lowering.cast(nest.raw("self", at), nest.dtype_of("self"), dtype);
  }

  void write(const Folder& folder, const Quantity& value, std::size_t output = 0) const {
    const Indices at = folded_place(folder.at(), folded, nest.type(output).shape.size());
    nest.lowering.write(nest.output(output), at, value);
  }
};

// What is folded, and how the total becomes the result.
template <class Term>
void fold_all(const Nest& nest, Combine how, double initial, Term term,
              const std::function<Quantity(Quantity, std::int64_t)>& finish) {
  const Reduced r(nest);
  const DType dtype = nest.type().dtype;
  const Quantity start = nest.lowering.constant(nest.computing(dtype), initial);
  for_each_fold(nest.lowering, r.space(), [&](Folder& folder) {
    const Quantity total = folder.fold(
        {"total", how, start, [&](const Indices& at) { return term(r.element(at, dtype)); }});
    r.write(folder, finish(total, folder.count()));
  });
}

Quantity as_it_is(Quantity total, std::int64_t) { return total; }

void sum(const Nest& nest) {
  fold_all(
      nest, Combine::add, 0, [](Quantity x) { return x; }, as_it_is);
}
void product(const Nest& nest) {
  fold_all(
      nest, Combine::mul, 1, [](Quantity x) { return x; }, as_it_is);
}
void nansum(const Nest& nest) {
  fold_all(
      nest, Combine::add, 0,
      [](Quantity x) { return x.real() ? select(is_nan(x), x.like(0), x) : x; }, as_it_is);
}
void mean(const Nest& nest) {
  fold_all(
      nest, Combine::add, 0, [](Quantity x) { return x; },
      [](Quantity total, std::int64_t count) { return total / static_cast<double>(count); });
}

void nanmean(const Nest& nest) {
  const Reduced r(nest);
  const DType dtype = nest.type().dtype;
  const Quantity zero = nest.lowering.constant(nest.computing(dtype), 0);
  for_each_fold(nest.lowering, r.space(), [&](Folder& folder) {
    const auto sums = folder.fold({{"total", Combine::add, zero,
                                    [&](const Indices& at) {
                                      const Quantity x = r.element(at, dtype);
                                      return select(is_nan(x), x.like(0), x);
                                    }},
                                   {"count", Combine::add, zero, [&](const Indices& at) {
                                      const Quantity x = r.element(at, dtype);
                                      return select(is_nan(x), x.like(0), x.like(1));
                                    }}});
    r.write(folder, sums[0] / sums[1]);
  });
}

// Of a matrix.
void trace(const Nest& nest) {
  const Shape& shape = nest.shape_of("self");
  const FoldSpace space{{std::min(shape[0], shape[1])}, {true}, {1}};
  const DType type = nest.computing(nest.type().dtype);
  for_each_fold(nest.lowering, space, [&](Folder& folder) {
    const Quantity total = folder.fold(
        {"total", Combine::add, nest.lowering.constant(type, 0), [&](const Indices& at) {
           return nest.raw("self", {at[0], at[0]}).to(type);
         }});
    nest.lowering.write(nest.output(), {}, total);
  });
}

// What is subtracted from the number of elements: `correction`, or 1 where `unbiased`.
double correction_of(const Call& call) {
  if (call.op().parameter("unbiased")) return call.boolean("unbiased") ? 1 : 0;
  return call.given("correction") ? call.scalar("correction").real : 1;
}

// In two passes: the mean, then the squares about it.
template <bool root>
void variance(const Nest& nest) {
  const Reduced r(nest);
  const DType dtype = nest.dtype_of("self");
  const Quantity zero = nest.lowering.constant(nest.computing(dtype), 0);
  for_each_fold(nest.lowering, r.space(), [&](Folder& folder) {
    const auto count = static_cast<double>(folder.count());
    const Quantity total = folder.fold(
        {"total", Combine::add, zero, [&](const Indices& at) { return r.element(at, dtype); }});
    const Quantity mean = total / count;
    const Quantity squares = folder.fold({"squares", Combine::add, zero, [&](const Indices& at) {
                                            const Quantity off = r.element(at, dtype) - mean;
                                            return off * off;
                                          }});
    const Quantity variance = squares / std::max(count - correction_of(nest.call), 0.0);
    if (nest.wanted(0)) r.write(folder, root ? sqrt(variance) : variance);
    if (nest.wanted(1)) r.write(folder, mean, 1);
  });
}

// An infinite maximum can't be subtracted; without it exp gives the right infinities by itself.
void logsumexp(const Nest& nest) {
  const Reduced r(nest);
  const DType dtype = nest.type().dtype;
  const DType type = nest.computing(dtype);
  for_each_fold(nest.lowering, r.space(), [&](Folder& folder) {
    const Quantity found =
        folder.fold({"largest", Combine::max, nest.lowering.constant(type, -HUGE_VAL),
                     [&](const Indices& at) { return r.element(at, dtype); }});
    const Quantity most = select(is_infinite(found), found.like(0), found);
    const Quantity total =
        folder.fold({"total", Combine::add, nest.lowering.constant(type, 0),
                     [&](const Indices& at) { return exp(r.element(at, dtype) - most); }});
    r.write(folder, log(total) + most);
  });
}

// Extremes
// ---------------------------------------------------------------------------------------

enum class Extreme { largest, smallest };

// The extreme value of self, and, where somebody wants it, where the first one stands.
Quantity extreme_value(const Reduced& r, Folder& folder, Extreme which) {
  const DType dtype = r.nest.dtype_of("self");
  const DType type = r.nest.computing(dtype);
  const Combine how = which == Extreme::largest ? Combine::max : Combine::min;
  const Constant least = neutral(how, type);
  const Quantity start = is_floating(type)
                             ? r.nest.lowering.constant(type, least.real)
                             : Quantity::constant(&r.nest.lowering.builder(), type, least.integer);
  return folder.fold({which == Extreme::largest ? "largest" : "smallest", how, start,
                      [&](const Indices& at) { return r.element(at, dtype); }});
}

// Along the call's `dim`, or in the flattened tensor: the least index of an element that is the
// extreme, NaN where that is.
Quantity extreme_place(const Reduced& r, Folder& folder, const Quantity& extreme) {
  const Nest& nest = r.nest;
  const Shape& shape = nest.shape_of("self");
  const bool along = nest.call.given("dim");
  const std::size_t dim = along ? nest.dimension("dim", shape.size()) : 0;
  const Quantity none =
      Quantity::constant(&nest.lowering.builder(), DType::i64, std::int64_t{INT64_MAX});
  return folder.fold(
      {"place", Combine::min, none, [&](const Indices& at) {
         const Quantity x = r.element(at, nest.dtype_of("self"));
         Quantity here = x == extreme;
         if (x.real()) here = here | (is_nan(x) & is_nan(extreme));
         const Index place = shape.empty() ? Index(0) : along ? at[dim] : linearised(at, shape);
         return select(here, nest.lowering.number(place), none);
       }});
}

template <Extreme which>
void extreme(const Nest& nest) {
  const Reduced r(nest);
  for_each_fold(nest.lowering, r.space(),
                [&](Folder& folder) { r.write(folder, extreme_value(r, folder, which)); });
}

void both_extremes(const Nest& nest) {
  const Reduced r(nest);
  for_each_fold(nest.lowering, r.space(), [&](Folder& folder) {
    if (nest.wanted(0)) r.write(folder, extreme_value(r, folder, Extreme::smallest), 0);
    if (nest.wanted(1)) r.write(folder, extreme_value(r, folder, Extreme::largest), 1);
  });
}

template <Extreme which>
void place_of_extreme(const Nest& nest) {
  const Reduced r(nest);
  for_each_fold(nest.lowering, r.space(), [&](Folder& folder) {
    r.write(folder, extreme_place(r, folder, extreme_value(r, folder, which)));
  });
}

template <Extreme which>
void extreme_and_place(const Nest& nest) {
  const Reduced r(nest);
  for_each_fold(nest.lowering, r.space(), [&](Folder& folder) {
    const Quantity value = extreme_value(r, folder, which);
    if (nest.wanted(0)) r.write(folder, value, 0);
    if (nest.wanted(1)) r.write(folder, extreme_place(r, folder, value), 1);
  });
}

// Truth
// ------------------------------------------------------------------------------------------

template <Combine how, bool empty_folds_all>
void truth(const Nest& nest) {
  const Reduced r(nest, empty_folds_all);
  const bool counts = how == Combine::add;
  const DType type = counts ? DType::i64 : DType::boolean;
  const Quantity start = Quantity::constant(&nest.lowering.builder(), type,
                                            std::int64_t{how == Combine::bit_and ? 1 : 0});
  for_each_fold(nest.lowering, r.space(), [&](Folder& folder) {
    r.write(folder, folder.fold({"so_far", how, start, [&](const Indices& at) {
                                   return nest.raw("self", at).to(DType::boolean).to(type);
                                 }}));
  });
}

// Norms
// ------------------------------------------------------------------------------------------

void norm(const Nest& nest) {
  const bool vector = nest.call.op().parameter("ord").has_value();
  const auto given = nest.call.maybe_scalar(vector ? "ord" : "p");
  const double p = given ? given->real : 2;
  const auto finish = [=](Quantity total, std::int64_t) {
    if (p == 0 || p == 1 || std::isinf(p)) return total;
    return p == 2 ? sqrt(total) : pow(total, 1 / p);
  };
  const auto term = [=](Quantity x) {
    if (p == 0) return (x != 0.0).to(x.type());
    if (p == 2) return x * x;
    const Quantity size = abs(x);
    return p == 1 || std::isinf(p) ? size : pow(size, p);
  };
  const Combine how = !std::isinf(p) ? Combine::add : p > 0 ? Combine::max : Combine::min;
  fold_all(nest, how, p == -HUGE_VAL ? HUGE_VAL : 0, term, finish);
}

}  // namespace

void add_reduction_nests(NestTable& table) {
  for (const Op op : {Op::sum, Op::sum_dim_IntList}) table.push_back({op, sum});
  for (const Op op : {Op::prod, Op::prod_dim_int}) table.push_back({op, product});
  for (const Op op : {Op::mean, Op::mean_dim}) table.push_back({op, mean});
  for (const Op op : {Op::var, Op::var_dim, Op::var_correction, Op::var_mean, Op::var_mean_dim,
                      Op::var_mean_correction})
    table.push_back({op, variance<false>});
  for (const Op op : {Op::std, Op::std_dim, Op::std_correction, Op::std_mean, Op::std_mean_dim,
                      Op::std_mean_correction})
    table.push_back({op, variance<true>});
  for (const Op op : {Op::norm_Scalar, Op::norm_ScalarOpt_dim, Op::norm_ScalarOpt_dtype,
                      Op::norm_ScalarOpt_dim_dtype, Op::linalg_vector_norm})
    table.push_back({op, norm});
  for (const Op op : {Op::amax, Op::max}) table.push_back({op, extreme<Extreme::largest>});
  for (const Op op : {Op::amin, Op::min}) table.push_back({op, extreme<Extreme::smallest>});
  for (const Op op : {Op::any, Op::any_dim, Op::any_dims})
    table.push_back({op, truth<Combine::bit_or, false>});
  for (const Op op : {Op::all, Op::all_dim, Op::all_dims})
    table.push_back({op, truth<Combine::bit_and, false>});
  for (const Op op : {Op::count_nonzero, Op::count_nonzero_dim_IntList})
    table.push_back({op, truth<Combine::add, true>});
  table.push_back({Op::nansum, nansum});
  table.push_back({Op::nanmean, nanmean});
  table.push_back({Op::trace, trace});
  table.push_back({Op::logsumexp, logsumexp});
  table.push_back({Op::aminmax, both_extremes});
  table.push_back({Op::max_dim, extreme_and_place<Extreme::largest>});
  table.push_back({Op::min_dim, extreme_and_place<Extreme::smallest>});
  table.push_back({Op::argmax, place_of_extreme<Extreme::largest>});
  table.push_back({Op::argmin, place_of_extreme<Extreme::smallest>});
}

}  // namespace recut::loop

// Composites of statistics: quantiles, covariances, ranks; and integrals and slopes of samples.
#include "engine/input/composite_operators.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace recut {
namespace {

Value samples_of(Builder& b, const Call& call, std::string_view parameter = "self") {
  return b.value(call.node(parameter));
}

Value slice(Builder& b, const Value& x, std::int64_t dim, std::int64_t begin, std::int64_t end) {
  return b(Op::slice_Tensor, {x, dim, begin, end});
}

// Quantiles
// ---------

enum class BetweenRanks { linear, lower, higher, midpoint, nearest };

std::optional<BetweenRanks> interpolation_of(const Call& call) {
  const std::string_view name = call.text("interpolation");
  if (name == "linear") return BetweenRanks::linear;
  if (name == "lower") return BetweenRanks::lower;
  if (name == "higher") return BetweenRanks::higher;
  if (name == "midpoint") return BetweenRanks::midpoint;
  if (name == "nearest") return BetweenRanks::nearest;
  return std::nullopt;
}

// The sorted values at the ranks, [..., q]. Numbers that are none are sorted last: a row that has
// one takes it, unless they are left out.
Value at_ranks(Builder& b, const Value& rows, const Value& q, BetweenRanks between,
               bool leave_out) {
  const Value sorted = b(Op::sort, {rows, -1, false})[0];
  const std::int64_t count = rows.size(-1);
  const Value none = b(Op::isnan, {rows});
  Value ranks;
  if (leave_out) {
    const Value known = b(Op::sum_dim_IntList, {b(Op::logical_not, {none}), {-1}, true});
    const Value last = b(Op::clamp_min, {b.convert(known, rows.dtype()) - 1.0, 0.0});
    ranks = q * last;
  } else {
    const Value any = b(Op::any_dim, {none, -1, true});
    const Value end = b.full({}, static_cast<double>(count - 1), rows.dtype());
    ranks = b.where(any, end, q * static_cast<double>(count - 1));
  }
  if (between == BetweenRanks::lower) ranks = b(Op::floor, {ranks});
  if (between == BetweenRanks::higher) ranks = b(Op::ceil, {ranks});
  if (between == BetweenRanks::nearest) ranks = b(Op::round, {ranks});
  Shape shape = rows.shape();
  shape.back() = q.size(-1);
  ranks = b.expand(ranks, shape);
  const auto value_at = [&](const Value& rank) {
    return b(Op::gather, {sorted, -1, b.convert(rank, DType::i64)});
  };
  const Value below = b(Op::floor, {ranks});
  const Value low = value_at(below);
  if (between != BetweenRanks::linear && between != BetweenRanks::midpoint) return low;
  const Value high = value_at(b(Op::ceil, {ranks}));
  const Value weights =
      between == BetweenRanks::midpoint ? b.full(shape, 0.5, rows.dtype()) : ranks - below;
  return b(Op::lerp_Tensor, {low, high, weights});
}

Expansion quantile_of(Builder& b, const Call& call, bool leave_out) {
  Value x = samples_of(b, call);
  const bool one = !call.is_tensor("q");
  const Value q =
      one ? b.full({1}, call.real("q"), x.dtype(), x.type().device) : samples_of(b, call, "q");
  const auto between = interpolation_of(call);
  if (!between || q.rank() > 1 || x.count() == 0) return Expansion::none();
  const bool scalar = one || q.rank() == 0;
  const bool keep = call.boolean("keepdim");
  Shape shape = x.shape();
  if (call.given("dim")) {
    const auto dim = wrap_dimension(call.integer("dim"), x.rank());
    if (!dim || x.rank() == 0) return Expansion::none();
    x = b(Op::movedim_int, {x, *dim, -1});
    shape[static_cast<std::size_t>(*dim)] = 1;
    if (!keep) shape.erase(shape.begin() + *dim);
  } else {
    x = b.view(x, {x.count()});
    shape = keep ? Shape(shape.size(), 1) : Shape();
  }
  const Value found = at_ranks(b, x, b.view(q, {q.count()}), *between, leave_out);
  const Value first = b(Op::movedim_int, {found, -1, 0});
  if (!scalar) shape.insert(shape.begin(), q.count());
  return b.view(first, shape);
}
Expansion quantile(Builder& b, const Call& call) { return quantile_of(b, call, false); }
Expansion nanquantile(Builder& b, const Call& call) { return quantile_of(b, call, true); }

// Covariances
// -----------

// Of variables as rows; a vector is one variable.
Value covariance(Builder& b, const Value& of, std::int64_t correction) {
  const Value x = of.rank() < 2 ? b.view(of, {1, of.count()}) : of;
  const double divisor = std::max(static_cast<double>(x.size(1) - correction), 0.0);
  const Value centred = x - b(Op::mean_dim, {x, {1}, true});
  const Value products = b.mm(centred, b.transpose(centred));
  const Value result = products / divisor;
  return of.rank() < 2 ? b.view(result, {}) : result;
}
Expansion cov(Builder& b, const Call& call) {
  const Value x = samples_of(b, call);
  if (call.given("fweights") || call.given("aweights") || x.rank() > 2 || is_complex(x.dtype()))
    return Expansion::none();
  return covariance(b, x, call.integer("correction"));
}
Expansion corrcoef(Builder& b, const Call& call) {
  const Value x = samples_of(b, call);
  if (x.rank() > 2 || is_complex(x.dtype())) return Expansion::none();
  const Value c = covariance(b, x, 1);
  if (x.rank() < 2) return c / c;
  const Value deviation = b(Op::sqrt, {b(Op::diagonal, {c})});
  const Value scaled = c / b(Op::unsqueeze, {deviation, 1}) / b(Op::unsqueeze, {deviation, 0});
  return b(Op::clamp, {scaled, -1.0, 1.0});
}

// A tolerance: a number, or a tensor with one for each matrix.
Value tolerance(Builder& b, const Call& call, std::string_view parameter, double usual,
                const Value& most) {
  if (call.is_tensor(parameter))
    return b(Op::unsqueeze, {b.convert(samples_of(b, call, parameter), most.dtype()), -1});
  return b.full({}, call.given(parameter) ? call.real(parameter) : usual, most.dtype());
}

// The count of singular values above the larger of an absolute and a relative tolerance.
Expansion rank_above(Builder& b, const Call& call, std::string_view operand,
                     std::string_view absolute, std::string_view relative) {
  const Value x = samples_of(b, call, operand);
  if (x.rank() < 2 || !is_floating(x.dtype())) return Expansion::none();
  const Value values = call.boolean("hermitian") ? b(Op::abs, {b(Op::linalg_eigvalsh, {x})})
                                                 : b(Op::linalg_svdvals, {x});
  const double epsilon = x.dtype() == DType::f64 ? std::numeric_limits<double>::epsilon()
                                                 : std::numeric_limits<float>::epsilon();
  const double usual = epsilon * static_cast<double>(std::max(x.size(-1), x.size(-2)));
  const Value most = b(Op::amax, {values, {-1}, true});
  const Value least = tolerance(b, call, absolute, 0, most);
  const Value nothing = b.full({}, 0.0, most.dtype());
  // The usual relative tolerance counts where the absolute one isn't above 0.
  Value share = nothing;
  if (!relative.empty()) {
    share = tolerance(b, call, relative, usual, most);
    if (!call.given(relative)) share = b.where(b(Op::gt_Scalar, {least, 0.0}), nothing, share);
  }
  const Value bound = b(Op::maximum, {most * share, least});
  return b(Op::sum_dim_IntList, {b(Op::gt_Tensor, {values, bound}), {-1}});
}
Expansion matrix_rank(Builder& b, const Call& call) {
  return rank_above(b, call, "self", "tol", {});
}
Expansion matrix_rank_by_two(Builder& b, const Call& call) {
  return rank_above(b, call, "self", "atol", "rtol");
}
Expansion matrix_rank_of_input(Builder& b, const Call& call) {
  return rank_above(b, call, "input", "tol", {});
}
Expansion matrix_rank_of_input_by_two(Builder& b, const Call& call) {
  return rank_above(b, call, "input", "atol", "rtol");
}

// Integrals and slopes of samples
// -------------------------------

// The areas under the lines between neighbours. Samples lie at x, or dx apart.
Expansion areas(Builder& b, const Call& call, bool running) {
  const Value y = samples_of(b, call, "y");
  const auto wrapped = wrap_dimension(call.integer("dim"), y.rank());
  if (!wrapped || y.rank() == 0 || y.size(*wrapped) < 1) return Expansion::none();
  const std::int64_t dim = *wrapped, count = y.size(dim);
  const Value sums = slice(b, y, dim, 1, count) + slice(b, y, dim, 0, count - 1);
  Value area;
  if (call.op().parameter("dx")) {
    area = sums * (0.5 * call.scalar("dx").real);
  } else {
    Value x = samples_of(b, call, "x");
    const std::int64_t at = x.rank() == 1 ? 0 : dim;
    if (x.size(at) != count) return Expansion::none();
    Value widths = slice(b, x, at, 1, count) - slice(b, x, at, 0, count - 1);
    if (x.rank() == 1 && y.rank() > 1) {
      Shape shape(y.shape().size(), 1);
      shape[static_cast<std::size_t>(dim)] = count - 1;
      widths = b.view(widths, shape);
    }
    area = sums * widths * 0.5;
  }
  return running ? b(Op::cumsum, {area, dim}) : b.sum(area, {dim});
}
Expansion trapezoid(Builder& b, const Call& call) { return areas(b, call, false); }
Expansion cumulative_trapezoid(Builder& b, const Call& call) { return areas(b, call, true); }

// Slopes by central differences, at the ends by differences of one side.
Value slope(Builder& b, const Value& x, std::int64_t dim, double spacing, std::int64_t order) {
  const std::int64_t n = x.size(dim);
  const auto at = [&](std::int64_t i) { return slice(b, x, dim, i, i + 1); };
  const Value middle = (slice(b, x, dim, 2, n) - slice(b, x, dim, 0, n - 2)) / (2 * spacing);
  const Value first =
      order == 1 ? (at(1) - at(0)) / spacing : (at(0) * -1.5 + at(1) * 2.0 - at(2) * 0.5) / spacing;
  const Value last = order == 1 ? (at(n - 1) - at(n - 2)) / spacing
                                : (at(n - 1) * 1.5 - at(n - 2) * 2.0 + at(n - 3) * 0.5) / spacing;
  return b(Op::cat, {std::vector<Value>{first, middle, last}, dim});
}
Expansion slopes_along(Builder& b, const Call& call, const std::vector<std::int64_t>& dims) {
  const Value x = samples_of(b, call);
  const std::int64_t order = call.integer("edge_order");
  const bool has_spacing = call.op().parameter("spacing") && call.given("spacing");
  const double spacing = has_spacing ? call.scalar("spacing").real : 1;
  std::vector<Value> slopes;
  for (const std::int64_t dim : dims) {
    if (order < 1 || order > 2 || spacing == 0 || x.size(dim) < order + 1) return Expansion::none();
    slopes.push_back(slope(b, x, dim, spacing, order));
  }
  return slopes;
}
Expansion gradient(Builder& b, const Call& call) {
  return slopes_along(b, call, call.integers("dim"));
}
// Along all dimensions without one.
Expansion gradient_along_one(Builder& b, const Call& call) {
  std::vector<std::int64_t> dims;
  if (call.given("dim")) return slopes_along(b, call, {call.integer("dim")});
  for (std::int64_t d = 0; d < samples_of(b, call).rank(); ++d) dims.push_back(d);
  return slopes_along(b, call, dims);
}

}  // namespace

std::vector<CompositeRow> statistics_composites() {
  return {
      {"aten::quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
       "interpolation='linear') -> Tensor",
       quantile},
      {"aten::quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
       "interpolation='linear') -> Tensor",
       quantile},
      {"aten::nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
       "interpolation='linear') -> Tensor",
       nanquantile},
      {"aten::nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
       "interpolation='linear') -> Tensor",
       nanquantile},
      {"aten::cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) "
       "-> Tensor",
       cov},
      {"aten::corrcoef(Tensor self) -> Tensor", corrcoef},
      {"aten::linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor",
       matrix_rank},
      {"aten::linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? "
       "rtol=None, bool hermitian=False) -> Tensor",
       matrix_rank_by_two},
      {"aten::linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> "
       "Tensor",
       matrix_rank_of_input},
      {"aten::linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? "
       "rtol=None, bool hermitian=False) -> Tensor",
       matrix_rank_of_input_by_two},
      {"aten::trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", trapezoid},
      {"aten::trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", trapezoid},
      {"aten::trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", trapezoid},
      {"aten::trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor", trapezoid},
      {"aten::cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
       cumulative_trapezoid},
      {"aten::cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
       cumulative_trapezoid},
      {"aten::gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int "
       "edge_order=1) -> Tensor[]",
       gradient_along_one},
      {"aten::gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> "
       "Tensor[]",
       gradient},
      {"aten::gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]", gradient},
  };
}

}  // namespace recut

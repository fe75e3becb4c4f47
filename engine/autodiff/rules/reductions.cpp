// Sums, means, variances, norms, products and extremes.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

std::vector<std::int64_t> dims_of(Site& s) {
  return s.has("dim") ? s.integers("dim") : std::vector<std::int64_t>{};
}
bool keeps(Site& s) { return s.has("keepdim") && s.boolean("keepdim"); }

// An output's value or gradient so that it broadcasts against `self`.
Value kept(Site& s, const Value& value) {
  return with_dims_kept(value, s["self"].shape(), dims_of(s), keeps(s));
}

Value spread(Site& s, const Value& value) { return broadcast_to(value, s["self"].shape()); }

Value sum(Site& s) { return spread(s, kept(s, s.grad())); }

Value mean(Site& s) {
  const auto n = static_cast<double>(elements_in(s["self"].shape(), dims_of(s)));
  return sum(s) / n;
}

Value nansum(Site& s) { return zero_where(s.b(Op::isnan, {s["self"]}), sum(s)); }

Value nanmean(Site& s) {
  const Value numbers = negated(s.b(Op::isnan, {s["self"]}));
  const Value count = s.b.sum(s.b.convert(numbers, s.out_type().dtype), dims_of(s), true);
  return keep_where(numbers, spread(s, kept(s, s.grad()) / count));
}

// n - correction, as the operator's overload says it.
double degrees(Site& s) {
  const auto n = static_cast<double>(elements_in(s["self"].shape(), dims_of(s)));
  if (s.has("unbiased")) return n - (s.boolean("unbiased") ? 1 : 0);
  return n - (s.is_given("correction") ? s.real("correction") : 1);
}

Value variance_slope(Site& s, const Value& gradient) {
  const Value x = s["self"];
  const Value centred = x - s.b(Op::mean_dim, {x, dims_of(s), true});
  return kept(s, gradient) * centred * (2 / degrees(s));
}

Value deviation_slope(Site& s, const Value& gradient) {
  const Value flat = s.b(Op::eq_Scalar, {s.out(0), 0});
  return variance_slope(s, zero_where(flat, gradient / (s.out(0) * 2)));
}

Value mean_slope(Site& s, const Value& gradient) {
  const auto n = static_cast<double>(elements_in(s["self"].shape(), dims_of(s)));
  return spread(s, kept(s, gradient)) / n;
}

Value with_mean(Site& s, Value (*slope)(Site&, const Value&)) {
  Value sum;
  if (s.has_grad(0)) sum = slope(s, s.grad(0));
  if (s.has_grad(1)) sum = plus(sum, mean_slope(s, s.grad(1)));
  return sum;
}

// softmax times the gradient; an infinite result counts as 0, so that no inf - inf arises.
Value logsumexp(Site& s) {
  const Value infinite = s.b(Op::isinf, {s.out()});
  const Value shift = kept(s, zero_where(infinite, s.out()));
  return kept(s, s.grad()) * s.b.exp(s["self"] - shift);
}

Value trace(Site& s) {
  const Value x = s["self"];
  const Value eye = s.b(Op::eye_m, {x.size(0), x.size(1)}, {{"dtype", x.dtype()}});
  return s.grad() * eye;
}

// If several elements are the extreme, each gets an equal share. An extreme that is NaN is equal
// to none: 0 / 0 makes its row's gradients NaN, so that a diverged value doesn't look converged.
// Extremes of whole tensors and medians go to the NaNs instead. Both are PyTorch's ways.
Value shared_extreme(Site& s, std::int64_t output) {
  const Value x = s["self"], extreme = kept(s, s.out(output)), grad = kept(s, s.grad(output));
  const Value equal = s.b(Op::eq_Tensor, {x, extreme});
  const auto shares = [&](const Value& held) {
    return s.b.sum(s.b.convert(held, x.dtype()), dims_of(s), true);
  };
  if (s.has("dim")) return keep_where(equal, spread(s, grad)) / shares(equal);
  const Value held = either(equal, both(s.b(Op::isnan, {x}), s.b(Op::isnan, {extreme})));
  return keep_where(held, spread(s, grad / shares(held)));
}

Value both_extremes(Site& s) {
  Value sum;
  if (s.has_grad(0)) sum = shared_extreme(s, 0);
  if (s.has_grad(1)) sum = plus(sum, shared_extreme(s, 1));
  return sum;
}

// The products of all elements but one along the last dimension: of those before, times those
// after.
Value products_of_others(const Value& rows) {
  Builder& b = *rows.builder();
  const std::int64_t n = rows.size(-1);
  Shape one = rows.shape();
  one.back() = 1;
  const Value ones = b.full(one, 1, rows.dtype(), rows.type().device);
  const auto before = [&](const Value& v) {
    const Value head = b(Op::slice_Tensor, {v, -1, 0, n - 1});
    return b(Op::cumprod, {b(Op::cat, {std::vector<Value>{ones, head}, -1}), -1});
  };
  const Value after = b(Op::flip, {before(b(Op::flip, {rows, {-1}})), {-1}});
  return before(rows) * after;
}

Value product(Site& s) {
  const Value x = s.b.convert(s["self"], s.out_type().dtype);
  if (x.count() == 0) return zeros(s.b, x.type());
  if (x.rank() == 0) return s.grad();
  if (!s.has("dim")) {
    const Value others = products_of_others(s.b.view(x, {x.count()}));
    return s.grad() * s.b.view(others, x.shape());
  }
  const std::int64_t d = s.dim("dim", x.rank());
  const Value others = s.b.transpose(products_of_others(s.b.transpose(x, d, -1)), d, -1);
  return kept(s, s.grad()) * others;
}

// The Euclidean, the absolute, the largest and the other norms; 0 where the norm is 0, as PyTorch.
Value norm_slope(Site& s, const Value& x, double p, const Value& norm, const Value& gradient) {
  const auto flat = [&](const Value& v) { return s.b(Op::eq_Scalar, {v, 0}); };
  if (p == 0) return {};
  if (p == 1) return unary(Op::sgn, x) * gradient;
  if (p == 2) return x * zero_where(flat(norm), gradient / norm);
  const Value magnitude = unary(Op::abs, x);
  if (std::isinf(p)) {
    const Value held = s.b(Op::eq_Tensor, {magnitude, norm});
    const Value count = s.b.sum(s.b.convert(held, x.dtype()), dims_of(s), true);
    return keep_where(held, unary(Op::sgn, x) * (gradient / count));
  }
  // Powers of the share that an element has in the norm: those of the two by themselves would leave
  // f32 long before their product does.
  const Value slope = power(magnitude / norm, p - 1) * gradient;
  return unary(Op::sgn, x) * zero_where(flat(p < 1 ? x : norm), slope);
}

Value norm(Site& s) {
  const char* name = s.has("ord") ? "ord" : "p";
  const double p = s.is_given(name) ? s.real(name) : 2;
  const Value x = s.b.convert(s["self"], s.out_type().dtype);
  return norm_slope(s, x, p, kept(s, s.out()), kept(s, s.grad()));
}

std::vector<Value> distance(Site& s) {
  return {s.b(Op::linalg_vector_norm, {s["self"] - s["other"], s.given("p")})};
}

// Slices along `dim` whose norm is above maxnorm, scaled down to it.
std::vector<Value> renorm(Site& s) {
  const Value x = s["self"];
  std::vector<std::int64_t> others;
  for (std::int64_t d = 0; d < x.rank(); ++d)
    if (d != s.dim("dim", x.rank())) others.push_back(d);
  const Value norm = s.b(Op::linalg_vector_norm, {x, s.given("p"), others, true});
  const Value factor = s.real("maxnorm") / (norm + 1e-7);
  const Value large = s.b(Op::gt_Scalar, {norm, s.given("maxnorm")});
  return {x * number_where(negated(large), 1, factor)};
}

Rows sums() {
  return {
      linear({Op::sum, Op::sum_dim_IntList}, {{"self", sum}}),
      linear({Op::mean, Op::mean_dim}, {{"self", mean}}),
      formulas({Op::nansum}, {{"self", nansum}}),
      formulas({Op::nanmean}, {{"self", nanmean}}),
      linear({Op::trace}, {{"self", trace}}),
      formulas({Op::logsumexp}, {{"self", logsumexp}}),
      formulas({Op::prod, Op::prod_dim_int}, {{"self", product}}),
  };
}

Rows moments() {
  return {
      formulas({Op::var, Op::var_dim, Op::var_correction},
               {{"self", [](Site& s) { return variance_slope(s, s.grad()); }}}),
      formulas({Op::std, Op::std_dim, Op::std_correction},
               {{"self", [](Site& s) { return deviation_slope(s, s.grad()); }}}),
      formulas({Op::var_mean, Op::var_mean_dim, Op::var_mean_correction},
               {{"self", [](Site& s) { return with_mean(s, variance_slope); }}}),
      formulas({Op::std_mean, Op::std_mean_dim, Op::std_mean_correction},
               {{"self", [](Site& s) { return with_mean(s, deviation_slope); }}}),
  };
}

Rows norms_and_extremes() {
  return {
      formulas({Op::norm_Scalar, Op::norm_ScalarOpt_dim, Op::norm_ScalarOpt_dtype,
                Op::norm_ScalarOpt_dim_dtype, Op::linalg_vector_norm},
               {{"self", norm}}),
      expands({Op::dist}, distance),
      expands({Op::renorm}, renorm),
      formulas({Op::amax, Op::amin, Op::max, Op::min, Op::median, Op::nanmedian},
               {{"self", [](Site& s) { return shared_extreme(s, 0); }}}),
      formulas({Op::aminmax}, {{"self", both_extremes}}),
  };
}

}  // namespace

Rows reduction_rows() {
  Rows rows;
  for (const auto family : {sums, moments, norms_and_extremes})
    for (Row& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff

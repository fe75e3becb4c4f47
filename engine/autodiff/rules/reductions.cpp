// Sums, means, variances, norms, products and extremes.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

std::vector<std::int64_t> dims_of(VjpContext& ctx) {
  return ctx.has("dim") ? ctx.integers("dim") : std::vector<std::int64_t>{};
}
bool keeps(VjpContext& ctx) { return ctx.has("keepdim") && ctx.boolean("keepdim"); }

// An output's value or gradient so that it broadcasts against `self`.
Value with_kept_dims(VjpContext& ctx, const Value& value) {
  return with_dims_kept(value, ctx["self"].shape(), dims_of(ctx), keeps(ctx));
}

Value spread(VjpContext& ctx, const Value& value) {
  return broadcast_to(value, ctx["self"].shape());
}

Value sum(VjpContext& ctx) { return spread(ctx, with_kept_dims(ctx, ctx.grad())); }

Value mean(VjpContext& ctx) {
  const auto n = static_cast<double>(elements_in(ctx["self"].shape(), dims_of(ctx)));
  return sum(ctx) / n;
}

Value nansum(VjpContext& ctx) { return zero_where(ctx.b(Op::isnan, {ctx["self"]}), sum(ctx)); }

Value nanmean(VjpContext& ctx) {
  const Value numbers = negated(ctx.b(Op::isnan, {ctx["self"]}));
  const Value count = ctx.b.sum(ctx.b.convert(numbers, ctx.out_type().dtype), dims_of(ctx), true);
  return keep_where(numbers, spread(ctx, with_kept_dims(ctx, ctx.grad()) / count));
}

// n - correction, as the operator's overload says it.
double degrees(VjpContext& ctx) {
  const auto n = static_cast<double>(elements_in(ctx["self"].shape(), dims_of(ctx)));
  if (ctx.has("unbiased")) return n - (ctx.boolean("unbiased") ? 1 : 0);
  return n - (ctx.is_given("correction") ? ctx.real("correction") : 1);
}

Value variance_slope(VjpContext& ctx, const Value& gradient) {
  const Value x = ctx["self"];
  const Value centred = x - ctx.b(Op::mean_dim, {x, dims_of(ctx), true});
  return with_kept_dims(ctx, gradient) * centred * (2 / degrees(ctx));
}

Value deviation_slope(VjpContext& ctx, const Value& gradient) {
  const Value flat = ctx.b(Op::eq_Scalar, {ctx.out(0), 0});
  return variance_slope(ctx, zero_where(flat, gradient / (ctx.out(0) * 2)));
}

Value mean_slope(VjpContext& ctx, const Value& gradient) {
  const auto n = static_cast<double>(elements_in(ctx["self"].shape(), dims_of(ctx)));
  return spread(ctx, with_kept_dims(ctx, gradient)) / n;
}

Value with_mean(VjpContext& ctx, Value (*slope)(VjpContext&, const Value&)) {
  Value sum;
  if (ctx.has_grad(0)) sum = slope(ctx, ctx.grad(0));
  if (ctx.has_grad(1)) sum = plus(sum, mean_slope(ctx, ctx.grad(1)));
  return sum;
}

// softmax times the gradient; an infinite result counts as 0, so that no inf - inf arises.
Value logsumexp(VjpContext& ctx) {
  const Value infinite = ctx.b(Op::isinf, {ctx.out()});
  const Value shift = with_kept_dims(ctx, zero_where(infinite, ctx.out()));
  return with_kept_dims(ctx, ctx.grad()) * ctx.b.exp(ctx["self"] - shift);
}

Value trace(VjpContext& ctx) {
  const Value x = ctx["self"];
  const Value eye = ctx.b(Op::eye_m, {x.size(0), x.size(1)}, {{"dtype", x.dtype()}});
  return ctx.grad() * eye;
}

// If several elements are the extreme, each gets an equal share. An extreme that is NaN is equal
// to none: 0 / 0 makes its row's gradients NaN, so that a diverged value doesn't look converged.
// Extremes of whole tensors and medians go to the NaNs instead. Both are PyTorch's ways.
Value shared_extreme(VjpContext& ctx, std::int64_t output) {
  const Value x = ctx["self"], extreme = with_kept_dims(ctx, ctx.out(output)),
              grad = with_kept_dims(ctx, ctx.grad(output));
  const Value equal = ctx.b(Op::eq_Tensor, {x, extreme});
  const auto shares = [&](const Value& held) {
    return ctx.b.sum(ctx.b.convert(held, x.dtype()), dims_of(ctx), true);
  };
  if (ctx.has("dim")) return keep_where(equal, spread(ctx, grad)) / shares(equal);
  const Value held = either(equal, both(ctx.b(Op::isnan, {x}), ctx.b(Op::isnan, {extreme})));
  return keep_where(held, spread(ctx, grad / shares(held)));
}

Value both_extremes(VjpContext& ctx) {
  Value sum;
  if (ctx.has_grad(0)) sum = shared_extreme(ctx, 0);
  if (ctx.has_grad(1)) sum = plus(sum, shared_extreme(ctx, 1));
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

Value product(VjpContext& ctx) {
  const Value x = ctx.b.convert(ctx["self"], ctx.out_type().dtype);
  if (x.count() == 0) return zeros(ctx.b, x.type());
  if (x.rank() == 0) return ctx.grad();
  if (!ctx.has("dim")) {
    const Value others = products_of_others(ctx.b.view(x, {x.count()}));
    return ctx.grad() * ctx.b.view(others, x.shape());
  }
  const std::int64_t d = ctx.dim("dim", x.rank());
  const Value others = ctx.b.transpose(products_of_others(ctx.b.transpose(x, d, -1)), d, -1);
  return with_kept_dims(ctx, ctx.grad()) * others;
}

// The Euclidean, the absolute, the largest and the other norms; 0 where the norm is 0, as PyTorch.
Value norm_slope(VjpContext& ctx, const Value& x, double p, const Value& norm,
                 const Value& gradient) {
  const auto flat = [&](const Value& v) { return ctx.b(Op::eq_Scalar, {v, 0}); };
  if (p == 0) return {};
  if (p == 1) return unary(Op::sgn, x) * gradient;
  if (p == 2) return x * zero_where(flat(norm), gradient / norm);
  const Value magnitude = unary(Op::abs, x);
  if (std::isinf(p)) {
    const Value held = ctx.b(Op::eq_Tensor, {magnitude, norm});
    const Value count = ctx.b.sum(ctx.b.convert(held, x.dtype()), dims_of(ctx), true);
    return keep_where(held, unary(Op::sgn, x) * (gradient / count));
  }
  // Powers of the ratio of an element to the norm. The powers of each alone would leave f32's range
  // long before their product does.
  const Value slope = power(magnitude / norm, p - 1) * gradient;
  return unary(Op::sgn, x) * zero_where(flat(p < 1 ? x : norm), slope);
}

Value norm(VjpContext& ctx) {
  const char* name = ctx.has("ord") ? "ord" : "p";
  const double p = ctx.is_given(name) ? ctx.real(name) : 2;
  const Value x = ctx.b.convert(ctx["self"], ctx.out_type().dtype);
  return norm_slope(ctx, x, p, with_kept_dims(ctx, ctx.out()), with_kept_dims(ctx, ctx.grad()));
}

std::vector<Value> distance(VjpContext& ctx) {
  return {ctx.b(Op::linalg_vector_norm, {ctx["self"] - ctx["other"], ctx.given("p")})};
}

// Slices along `dim` whose norm is above maxnorm, scaled down to it.
std::vector<Value> renorm(VjpContext& ctx) {
  const Value x = ctx["self"];
  std::vector<std::int64_t> others;
  for (std::int64_t d = 0; d < x.rank(); ++d)
    if (d != ctx.dim("dim", x.rank())) others.push_back(d);
  const Value norm = ctx.b(Op::linalg_vector_norm, {x, ctx.given("p"), others, true});
  const Value factor = ctx.real("maxnorm") / (norm + 1e-7);
  const Value large = ctx.b(Op::gt_Scalar, {norm, ctx.given("maxnorm")});
  return {x * number_where(negated(large), 1, factor)};
}

DerivativeRules sums() {
  return {
      linear({Op::sum, Op::sum_dim_IntList}, {{"self", sum}}),
      linear({Op::mean, Op::mean_dim}, {{"self", mean}}),
      vjp({Op::nansum}, {{"self", nansum}}),
      vjp({Op::nanmean}, {{"self", nanmean}}),
      linear({Op::trace}, {{"self", trace}}),
      vjp({Op::logsumexp}, {{"self", logsumexp}}),
      vjp({Op::prod, Op::prod_dim_int}, {{"self", product}}),
  };
}

DerivativeRules moments() {
  return {
      vjp({Op::var, Op::var_dim, Op::var_correction},
          {{"self", [](VjpContext& ctx) { return variance_slope(ctx, ctx.grad()); }}}),
      vjp({Op::std, Op::std_dim, Op::std_correction},
          {{"self", [](VjpContext& ctx) { return deviation_slope(ctx, ctx.grad()); }}}),
      vjp({Op::var_mean, Op::var_mean_dim, Op::var_mean_correction},
          {{"self", [](VjpContext& ctx) { return with_mean(ctx, variance_slope); }}}),
      vjp({Op::std_mean, Op::std_mean_dim, Op::std_mean_correction},
          {{"self", [](VjpContext& ctx) { return with_mean(ctx, deviation_slope); }}}),
  };
}

DerivativeRules norms_and_extremes() {
  return {
      vjp({Op::norm_Scalar, Op::norm_ScalarOpt_dim, Op::norm_ScalarOpt_dtype,
           Op::norm_ScalarOpt_dim_dtype, Op::linalg_vector_norm},
          {{"self", norm}}),
      decomposes({Op::dist}, distance),
      decomposes({Op::renorm}, renorm),
      vjp({Op::amax, Op::amin, Op::max, Op::min, Op::median, Op::nanmedian},
          {{"self", [](VjpContext& ctx) { return shared_extreme(ctx, 0); }}}),
      vjp({Op::aminmax}, {{"self", both_extremes}}),
  };
}

}  // namespace

DerivativeRules reduction_rules() {
  DerivativeRules rows;
  for (const auto family : {sums, moments, norms_and_extremes})
    for (DerivativeRule& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff

// Special functions: gamma, error, Bessel, zeta and related functions.
//
// Each derivative is a formula in functions of the same table. Formulas avoid forms that under- or
// overflow, such as erfcx instead of a quotient of exponentials. The derivative by a first operand
// without a closed form, as igamma's, is a diagnostic.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// sqrt(pi) / 2, 1 / sqrt(2 pi), sqrt(2 pi).
constexpr double kHalfSqrtPi = 0.88622692545275801365;
constexpr double kOneOverSqrtTwoPi = 0.39894228040143267794;
constexpr double kSqrtTwoPi = 2.50662827463100050242;

Value times_grad(VjpContext& ctx, const Value& slope) { return ctx.grad() * slope; }

Value gaussian(const Value& x, double scale) { return unary(Op::exp, -squared(x)) * scale; }

Value polygamma(VjpContext& ctx, std::int64_t order) {
  return ctx.b(Op::polygamma, {order, x_of(ctx)});
}

// The sum of digamma at self, self - 1/2, …, one a term of the multivariate log-gamma function.
Value mvlgamma(VjpContext& ctx) {
  Value sum;
  for (std::int64_t j = 0; j < ctx.integer("p"); ++j)
    sum = plus(sum, unary(Op::digamma, x_of(ctx) - 0.5 * static_cast<double>(j)));
  return times_grad(ctx, sum);
}

// The density of the gamma distribution: the derivative of igamma by `other`.
Value gamma_density(VjpContext& ctx) {
  const Value a = x_of(ctx), x = y_of(ctx);
  const Value logarithm = (a - 1) * ctx.b.log(x) - x - unary(Op::lgamma, a);
  return ctx.grad() * ctx.b.exp(logarithm);
}

// d log_ndtr = exp(-x^2/2) / (ndtr(x) sqrt(2 pi)): through erfcx, which does not underflow.
Value log_ndtr(VjpContext& ctx) {
  const Value x = x_of(ctx);
  const Value scaled = unary(Op::special_erfcx, x * -0.70710678118654752440);
  return ctx.grad() * (0.79788456080286535588 / scaled);
}

Value i1(VjpContext& ctx) {
  const Value x = x_of(ctx);
  const Value at_zero = ctx.b(Op::eq_Scalar, {x, 0});
  const Value safe = number_where(at_zero, 1, x);
  const Value slope = unary(Op::i0, x) - ctx.out() / safe;
  return ctx.grad() * number_where(at_zero, 0.5, slope);
}

Value i1e(VjpContext& ctx) {
  const Value x = x_of(ctx);
  const Value at_zero = ctx.b(Op::eq_Scalar, {x, 0});
  const Value safe = number_where(at_zero, 1, x);
  const Value slope = unary(Op::special_i0e, x) - ctx.out() * (unary(Op::sgn, x) + 1 / safe);
  return ctx.grad() * number_where(at_zero, 0.5, slope);
}

Value xlog1py_self(VjpContext& ctx) {
  const Value x = x_of(ctx), y = y_of(ctx);
  const Value flat = both(ctx.b(Op::eq_Scalar, {x, 0}), ctx.b(Op::le_Scalar, {y, -1}));
  return ctx.grad() * zero_where(flat, unary(Op::log1p, y));
}

// d/dq zeta(s, q) = -s zeta(s + 1, q).
Value zeta_other(VjpContext& ctx) {
  const Value order = x_of(ctx);
  return -(ctx.grad() * order * ctx.b(Op::special_zeta, {order + 1, y_of(ctx)}));
}

Value by_first_operand(VjpContext& ctx) { return ctx.b.fail("there is none by the first operand"); }

DerivativeRules error_functions() {
  return {
      elementwise({Op::erf}, {{"self",
                               [](VjpContext& ctx) {
                                 return times_grad(ctx, gaussian(x_of(ctx), kTwoOverSqrtPi));
                               }}}),
      elementwise({Op::erfc}, {{"self",
                                [](VjpContext& ctx) {
                                  return times_grad(ctx, gaussian(x_of(ctx), -kTwoOverSqrtPi));
                                }}}),
      elementwise({Op::erfinv}, {{"self",
                                  [](VjpContext& ctx) {
                                    return times_grad(ctx,
                                                      ctx.b.exp(squared(ctx.out())) * kHalfSqrtPi);
                                  }}}),
      elementwise({Op::special_erfcx}, {{"self",
                                         [](VjpContext& ctx) {
                                           return times_grad(
                                               ctx, x_of(ctx) * ctx.out() * 2 - kTwoOverSqrtPi);
                                         }}}),
      elementwise({Op::special_ndtr}, {{"self",
                                        [](VjpContext& ctx) {
                                          return times_grad(ctx,
                                                            ctx.b.exp(squared(x_of(ctx)) * -0.5) *
                                                                kOneOverSqrtTwoPi);
                                        }}}),
      elementwise({Op::special_ndtri},
                  {{"self",
                    [](VjpContext& ctx) {
                      return times_grad(ctx, ctx.b.exp(squared(ctx.out()) * 0.5) * kSqrtTwoPi);
                    }}}),
      elementwise({Op::special_log_ndtr}, {{"self", log_ndtr}}),
  };
}

DerivativeRules gamma_functions() {
  return {
      elementwise({Op::lgamma}, {{"self",
                                  [](VjpContext& ctx) {
                                    return times_grad(ctx, unary(Op::digamma, x_of(ctx)));
                                  }}}),
      elementwise({Op::digamma},
                  {{"self", [](VjpContext& ctx) { return times_grad(ctx, polygamma(ctx, 1)); }}}),
      elementwise({Op::polygamma}, {{"self",
                                     [](VjpContext& ctx) {
                                       return times_grad(ctx, polygamma(ctx, ctx.integer("n") + 1));
                                     }}}),
      elementwise({Op::mvlgamma}, {{"self", mvlgamma}}),
      elementwise({Op::igamma}, {{"self", by_first_operand}, {"other", gamma_density}}),
      elementwise({Op::igammac}, {{"self", by_first_operand},
                                  {"other", [](VjpContext& ctx) { return -gamma_density(ctx); }}}),
      elementwise({Op::special_zeta, Op::special_zeta_self_scalar, Op::special_zeta_other_scalar},
                  {{"self", by_first_operand}, {"other", zeta_other}}),
  };
}

DerivativeRules bessel_functions() {
  return {
      elementwise({Op::i0}, {{"self",
                              [](VjpContext& ctx) {
                                return times_grad(ctx, unary(Op::special_i1, x_of(ctx)));
                              }}}),
      elementwise({Op::special_i0e}, {{"self",
                                       [](VjpContext& ctx) {
                                         const Value x = x_of(ctx);
                                         return times_grad(ctx, unary(Op::special_i1e, x) -
                                                                    unary(Op::sgn, x) * ctx.out());
                                       }}}),
      elementwise({Op::special_i1}, {{"self", i1}}),
      elementwise({Op::special_i1e}, {{"self", i1e}}),
  };
}

DerivativeRules logarithms() {
  return {
      elementwise(
          {Op::special_entr},
          {{"self", [](VjpContext& ctx) { return times_grad(ctx, -ctx.b.log(x_of(ctx)) - 1); }}}),
      elementwise(
          {Op::special_xlog1py, Op::special_xlog1py_self_scalar, Op::special_xlog1py_other_scalar},
          {{"self", xlog1py_self},
           {"other", [](VjpContext& ctx) { return ctx.grad() * x_of(ctx) / (y_of(ctx) + 1); }}}),
  };
}

}  // namespace

DerivativeRules special_rules() {
  DerivativeRules rows;
  for (const auto family : {error_functions, gamma_functions, bessel_functions, logarithms})
    for (DerivativeRule& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff

// Signs and rounding, exponentials, roots and trigonometry: element-wise functions of one or two
// operands.
//
// A rule reads the output instead of the operand if the derivative is a function of the output
// (exp, sqrt, tanh), as PyTorch's do: it computes less.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// Integer operands are converted: the formula reads its operand in the output's dtype.
Value copysign_self(VjpContext& ctx) {
  const Value x = x_of(ctx);
  return ctx.grad() * zero_where(ctx.b(Op::eq_Scalar, {x, 0}), ctx.out() / x);
}

Value nan_to_num(VjpContext& ctx) {
  return keep_where(ctx.b(Op::isfinite, {ctx["self"]}), ctx.grad());
}

// d sinc: (pi x cos(pi x) - sin(pi x)) / (pi x^2), and 0 at 0.
Value sinc(VjpContext& ctx) {
  const Value x = x_of(ctx), px = x * kPi;
  const Value slope = (px * unary(Op::cos, px) - unary(Op::sin, px)) / (px * x);
  return ctx.grad() * zero_where(ctx.b(Op::eq_Scalar, {x, 0}), slope);
}

Value hypot_part(VjpContext& ctx, const Value& part) {
  const Value slope = part / ctx.out();
  return ctx.grad() * zero_where(ctx.b(Op::eq_Scalar, {ctx.out(), 0}), slope);
}

Value atan2_part(VjpContext& ctx, const Value& numerator) {
  const Value square = squared(x_of(ctx)) + squared(y_of(ctx));
  return ctx.grad() * zero_where(ctx.b(Op::eq_Scalar, {square, 0}), numerator / square);
}

// The share of one term in log(exp(self) + exp(other)): a sigmoid of the difference.
Value share(VjpContext& ctx, const Value& mine, const Value& its, double scale) {
  const Value difference = zero_where(ctx.b(Op::eq_Tensor, {mine, its}), mine - its);
  return ctx.grad() * unary(Op::sigmoid, scale == 1 ? difference : difference * scale);
}

Value xlogy_self(VjpContext& ctx) {
  const Value x = x_of(ctx), y = y_of(ctx);
  const Value flat = both(ctx.b(Op::eq_Scalar, {x, 0}), ctx.b(Op::le_Scalar, {y, 0}));
  return ctx.grad() * zero_where(flat, ctx.b.log(y));
}

DerivativeRules signs_and_rounding() {
  return {
      elementwise(
          {Op::abs},
          {{"self", [](VjpContext& ctx) { return ctx.grad() * unary(Op::sgn, ctx["self"]); }}}),
      elementwise({Op::neg}, {{"self", [](VjpContext& ctx) { return -ctx.grad(); }}}),
      elementwise({Op::positive, Op::frac}, {{"self", same}}),
      elementwise(
          {Op::sign, Op::floor, Op::ceil, Op::trunc, Op::fix, Op::round, Op::round_decimals},
          {{"self", nothing}}),
      elementwise({Op::square},
                  {{"self", [](VjpContext& ctx) { return ctx.grad() * (ctx["self"] * 2); }}}),
      elementwise({Op::copysign_Tensor, Op::copysign_Scalar},
                  {{"self", copysign_self}, {"other", nothing}}),
      elementwise({Op::nan_to_num}, {{"self", nan_to_num}}),
      elementwise({Op::deg2rad},
                  {{"self", [](VjpContext& ctx) { return ctx.grad() * (kPi / 180); }}}),
      elementwise({Op::rad2deg},
                  {{"self", [](VjpContext& ctx) { return ctx.grad() * (180 / kPi); }}}),
      vjp({Op::frexp_Tensor},
          {{"self",
            [](VjpContext& ctx) {
              const Value e = ctx.b.convert(ctx.out(1), ctx.out_type().dtype);
              return ctx.grad() * unary(Op::exp2, -e);
            }}},
          1),
  };
}

DerivativeRules exponentials_and_roots() {
  return {
      elementwise({Op::exp}, {{"self", [](VjpContext& ctx) { return ctx.grad() * ctx.out(); }}}),
      elementwise({Op::exp2},
                  {{"self", [](VjpContext& ctx) { return ctx.grad() * ctx.out() * kLn2; }}}),
      elementwise({Op::expm1},
                  {{"self", [](VjpContext& ctx) { return ctx.grad() * (ctx.out() + 1); }}}),
      elementwise({Op::log}, {{"self", [](VjpContext& ctx) { return ctx.grad() / x_of(ctx); }}}),
      elementwise({Op::log2},
                  {{"self", [](VjpContext& ctx) { return ctx.grad() / (x_of(ctx) * kLn2); }}}),
      elementwise({Op::log10},
                  {{"self", [](VjpContext& ctx) { return ctx.grad() / (x_of(ctx) * kLn10); }}}),
      elementwise({Op::log1p},
                  {{"self", [](VjpContext& ctx) { return ctx.grad() / (x_of(ctx) + 1); }}}),
      elementwise({Op::sqrt},
                  {{"self", [](VjpContext& ctx) { return ctx.grad() / (ctx.out() * 2); }}}),
      elementwise({Op::rsqrt}, {{"self",
                                 [](VjpContext& ctx) {
                                   const Value r = ctx.out();
                                   return ctx.grad() * (r * r * r * -0.5);
                                 }}}),
      elementwise({Op::reciprocal},
                  {{"self", [](VjpContext& ctx) { return -(ctx.grad() * squared(ctx.out())); }}}),
      elementwise({Op::logaddexp},
                  {{"self", [](VjpContext& ctx) { return share(ctx, x_of(ctx), y_of(ctx), 1); }},
                   {"other", [](VjpContext& ctx) { return share(ctx, y_of(ctx), x_of(ctx), 1); }}}),
      elementwise(
          {Op::logaddexp2},
          {{"self", [](VjpContext& ctx) { return share(ctx, x_of(ctx), y_of(ctx), kLn2); }},
           {"other", [](VjpContext& ctx) { return share(ctx, y_of(ctx), x_of(ctx), kLn2); }}}),
      elementwise({Op::xlogy_Tensor, Op::xlogy_Scalar_Self, Op::xlogy_Scalar_Other},
                  {{"self", xlogy_self},
                   {"other", [](VjpContext& ctx) { return ctx.grad() * x_of(ctx) / y_of(ctx); }}}),
      elementwise({Op::logit},
                  {{"self",
                    [](VjpContext& ctx) {
                      return ctx.b(Op::logit_backward, {ctx.grad(), ctx["self"], ctx.given("eps")});
                    }}}),
      elementwise({Op::sigmoid}, {{"self",
                                   [](VjpContext& ctx) {
                                     return ctx.b(Op::sigmoid_backward, {ctx.grad(), ctx.out()});
                                   }}}),
  };
}

DerivativeRules trigonometry() {
  return {
      elementwise(
          {Op::sin},
          {{"self", [](VjpContext& ctx) { return ctx.grad() * unary(Op::cos, x_of(ctx)); }}}),
      elementwise(
          {Op::cos},
          {{"self", [](VjpContext& ctx) { return -(ctx.grad() * unary(Op::sin, x_of(ctx))); }}}),
      elementwise(
          {Op::tan},
          {{"self", [](VjpContext& ctx) { return ctx.grad() * (squared(ctx.out()) + 1); }}}),
      elementwise({Op::asin}, {{"self",
                                [](VjpContext& ctx) {
                                  return ctx.grad() * unary(Op::rsqrt, 1 - squared(x_of(ctx)));
                                }}}),
      elementwise({Op::acos}, {{"self",
                                [](VjpContext& ctx) {
                                  return -(ctx.grad() * unary(Op::rsqrt, 1 - squared(x_of(ctx))));
                                }}}),
      elementwise(
          {Op::atan},
          {{"self", [](VjpContext& ctx) { return ctx.grad() / (squared(x_of(ctx)) + 1); }}}),
      elementwise(
          {Op::sinh},
          {{"self", [](VjpContext& ctx) { return ctx.grad() * unary(Op::cosh, x_of(ctx)); }}}),
      elementwise(
          {Op::cosh},
          {{"self", [](VjpContext& ctx) { return ctx.grad() * unary(Op::sinh, x_of(ctx)); }}}),
      elementwise({Op::tanh}, {{"self",
                                [](VjpContext& ctx) {
                                  return ctx.b(Op::tanh_backward, {ctx.grad(), ctx.out()});
                                }}}),
      elementwise({Op::asinh}, {{"self",
                                 [](VjpContext& ctx) {
                                   return ctx.grad() * unary(Op::rsqrt, squared(x_of(ctx)) + 1);
                                 }}}),
      elementwise({Op::acosh}, {{"self",
                                 [](VjpContext& ctx) {
                                   return ctx.grad() * unary(Op::rsqrt, squared(x_of(ctx)) - 1);
                                 }}}),
      elementwise(
          {Op::atanh},
          {{"self", [](VjpContext& ctx) { return ctx.grad() / (1 - squared(x_of(ctx))); }}}),
      elementwise({Op::sinc}, {{"self", sinc}}),
      elementwise({Op::atan2},
                  {{"self", [](VjpContext& ctx) { return atan2_part(ctx, y_of(ctx)); }},
                   {"other", [](VjpContext& ctx) { return atan2_part(ctx, -x_of(ctx)); }}}),
      elementwise({Op::hypot},
                  {{"self", [](VjpContext& ctx) { return hypot_part(ctx, x_of(ctx)); }},
                   {"other", [](VjpContext& ctx) { return hypot_part(ctx, y_of(ctx)); }}}),
  };
}

}  // namespace

DerivativeRules function_rules() {
  DerivativeRules rows;
  for (const auto family : {signs_and_rounding, exponentials_and_roots, trigonometry})
    for (DerivativeRule& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff

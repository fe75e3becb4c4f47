// Sums, products, powers, maxima and minima, selections and casts.
//
// Most rules are elementwise: one formula serves as VJP and, with the tangent in place of the
// gradient, as JVP. A formula computes in the output's dtype and ignores broadcasting; the caller
// sums and converts (derivative_rule.h). Formulas keep PyTorch's conventions at the points where a
// derivative does not exist: equal operands of a maximum share the gradient, and x^0 has slope 0.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// An operand in the output's dtype, in which the formula computes.
Value cast(VjpContext& ctx, std::string_view parameter) {
  return ctx.b.convert(ctx[parameter], ctx.out_type().dtype);
}

bool rounds(VjpContext& ctx) { return ctx.has("rounding_mode") && ctx.is_given("rounding_mode"); }

Value quotient_self(VjpContext& ctx) {
  return rounds(ctx) ? Value() : over(ctx.grad(), ctx.given("other"));
}
Value quotient_other(VjpContext& ctx) {
  return rounds(ctx) ? Value() : -(over(ctx.grad(), ctx.given("other")) * ctx.out());
}

// The rounded quotient of `self` and `other`.
Value ratio(VjpContext& ctx, const char* rounding) {
  return ctx.b(Op::div_Tensor_mode, {ctx["self"], ctx["other"]}, {{"rounding_mode", rounding}});
}

// x^e has derivative e x^(e-1), which is 0 where e is, even for x = 0.
Value power_base(VjpContext& ctx) {
  const Scalar number = ctx.call().scalar("exponent");
  if (ctx.call().is_tensor("exponent")) {
    const Value e = cast(ctx, "exponent");
    const Value slope = e * ctx.b(Op::pow_Tensor_Tensor, {cast(ctx, "self"), e - 1});
    return zero_where(ctx.b(Op::eq_Scalar, {e, 0}), ctx.grad() * slope);
  }
  if (number.real == 0) return {};
  if (number.real == 1) return ctx.grad();
  const Argument less =
      number.category == DType::f64 ? Argument(number.real - 1) : Argument(number.integer - 1);
  const Value slope = number.real == 2 ? cast(ctx, "self")
                                       : ctx.b(Op::pow_Tensor_Scalar, {cast(ctx, "self"), less});
  return ctx.grad() * times(slope, ctx.given("exponent"));
}

// x^e log x; where x is 0 and e is not negative, 0.
Value power_exponent(VjpContext& ctx) {
  const Value x = cast(ctx, "self"), e = cast(ctx, "exponent");
  const Value flat = both(ctx.b(Op::eq_Scalar, {x, 0}), ctx.b(Op::ge_Scalar, {e, 0}));
  return ctx.grad() * zero_where(flat, ctx.out() * ctx.b.log(x));
}

// Equal operands get half of the gradient each.
Value extreme(VjpContext& ctx, const char* mine, const char* its, Op loses) {
  const Value a = ctx[mine], b = ctx[its];
  const Value half = ctx.b.where(ctx.b(Op::eq_Tensor, {a, b}), ctx.grad() / 2, ctx.grad());
  return zero_where(ctx.b(loses, {a, b}), half);
}

// fmax and fmin: `self` is taken where it wins or draws, and where the other is NaN.
Value taken_self(VjpContext& ctx, Op wins) {
  const Value a = ctx["self"], b = ctx["other"];
  return either(ctx.b(wins, {a, b}), ctx.b(Op::isnan, {b}));
}

Value clamp_self(VjpContext& ctx) {
  Value inside;
  if (ctx.has("min") && ctx.is_given("min"))
    inside = binary(Op::ge_Tensor, ctx["self"], ctx["min"]);
  if (ctx.has("max") && ctx.is_given("max")) {
    const Value below = binary(Op::le_Tensor, ctx["self"], ctx["max"]);
    inside = inside.valid() ? both(inside, below) : below;
  }
  return inside.valid() ? keep_where(inside, ctx.grad()) : ctx.grad();
}

Value clamp_bound_min(VjpContext& ctx) {
  Value held = binary(Op::lt_Tensor, ctx["self"], ctx["min"]);
  if (ctx.has("max") && ctx.is_given("max"))
    held = both(held, binary(Op::lt_Tensor, ctx["min"], ctx["max"]));
  return keep_where(held, ctx.grad());
}

Value clamp_bound_max(VjpContext& ctx) {
  Value held = binary(Op::gt_Tensor, ctx["self"], ctx["max"]);
  if (ctx.has("min") && ctx.is_given("min"))
    held = either(held, binary(Op::lt_Tensor, ctx["max"], ctx["min"]));
  return keep_where(held, ctx.grad());
}

Value back_on_device(VjpContext& ctx) {
  const std::string& device = ctx["a"].type().device;
  if (device == ctx.grad().type().device || device.empty()) return ctx.grad();
  return ctx.b(Op::prims_device_put, {ctx.grad(), device});
}

DerivativeRules sums_and_products() {
  return {
      elementwise({Op::add_Tensor, Op::add_Scalar, Op::prims_add},
                  {{"self", same},
                   {"other", [](VjpContext& ctx) { return ctx.scaled(ctx.grad(), "alpha"); }}}),
      elementwise({Op::sub_Tensor, Op::sub_Scalar, Op::prims_sub},
                  {{"self", same},
                   {"other", [](VjpContext& ctx) { return -ctx.scaled(ctx.grad(), "alpha"); }}}),
      elementwise({Op::rsub_Tensor, Op::rsub_Scalar},
                  {{"self", [](VjpContext& ctx) { return -ctx.scaled(ctx.grad(), "alpha"); }},
                   {"other", same}}),
      elementwise(
          {Op::mul_Tensor, Op::mul_Scalar, Op::prims_mul},
          {{"self", [](VjpContext& ctx) { return times(ctx.grad(), ctx.given("other")); }},
           {"other", [](VjpContext& ctx) { return times(ctx.grad(), ctx.given("self")); }}}),
      elementwise(
          {Op::div_Tensor, Op::div_Scalar, Op::prims_div, Op::div_Tensor_mode, Op::div_Scalar_mode},
          {{"self", quotient_self}, {"other", quotient_other}}),
      elementwise({Op::floor_divide, Op::floor_divide_Scalar},
                  {{"self", nothing}, {"other", nothing}}),
      elementwise({Op::remainder_Tensor, Op::remainder_Scalar, Op::remainder_Scalar_Tensor},
                  {{"self", same},
                   {"other", [](VjpContext& ctx) { return -(ctx.grad() * ratio(ctx, "floor")); }}}),
      elementwise({Op::fmod_Tensor, Op::fmod_Scalar},
                  {{"self", same},
                   {"other", [](VjpContext& ctx) { return -(ctx.grad() * ratio(ctx, "trunc")); }}}),
      elementwise(
          {Op::addcmul},
          {{"self", same},
           {"tensor1",
            [](VjpContext& ctx) { return ctx.scaled(ctx.grad(), "value") * ctx["tensor2"]; }},
           {"tensor2",
            [](VjpContext& ctx) { return ctx.scaled(ctx.grad(), "value") * ctx["tensor1"]; }}}),
      elementwise(
          {Op::addcdiv},
          {{"self", same},
           {"tensor1",
            [](VjpContext& ctx) { return ctx.scaled(ctx.grad(), "value") / ctx["tensor2"]; }},
           {"tensor2",
            [](VjpContext& ctx) {
              const Value d = ctx["tensor2"];
              return -(ctx.scaled(ctx.grad(), "value") * (ctx["tensor1"] / d) / d);
            }}}),
      elementwise(
          {Op::lerp_Scalar, Op::lerp_Tensor},
          {{"self", [](VjpContext& ctx) { return ctx.grad() * (1 - ctx["weight"]); }},
           {"end", [](VjpContext& ctx) { return times(ctx.grad(), ctx.given("weight")); }},
           {"weight", [](VjpContext& ctx) { return ctx.grad() * (ctx["end"] - ctx["self"]); }}}),
      elementwise(
          {Op::ldexp_Tensor},
          {{"self",
            [](VjpContext& ctx) { return ctx.grad() * unary(Op::exp2, cast(ctx, "other")); }},
           {"other", [](VjpContext& ctx) { return ctx.grad() * ctx.out() * kLn2; }}}),
      elementwise({Op::prims_fma},
                  {{"self", [](VjpContext& ctx) { return times(ctx.grad(), ctx.given("other")); }},
                   {"other", [](VjpContext& ctx) { return times(ctx.grad(), ctx.given("self")); }},
                   {"addend", same}}),
  };
}

DerivativeRules powers() {
  return {
      elementwise({Op::pow_Tensor_Tensor, Op::pow_Tensor_Scalar, Op::float_power_Tensor_Tensor,
                   Op::float_power_Tensor_Scalar},
                  {{"self", power_base}, {"exponent", power_exponent}}),
      elementwise({Op::pow_Scalar, Op::float_power_Scalar}, {{"exponent", power_exponent}}),
  };
}

DerivativeRules choices() {
  return {
      elementwise(
          {Op::maximum, Op::max_other},
          {{"self", [](VjpContext& ctx) { return extreme(ctx, "self", "other", Op::lt_Tensor); }},
           {"other",
            [](VjpContext& ctx) { return extreme(ctx, "other", "self", Op::lt_Tensor); }}}),
      elementwise(
          {Op::minimum, Op::min_other},
          {{"self", [](VjpContext& ctx) { return extreme(ctx, "self", "other", Op::gt_Tensor); }},
           {"other",
            [](VjpContext& ctx) { return extreme(ctx, "other", "self", Op::gt_Tensor); }}}),
      elementwise({Op::fmax}, {{"self",
                                [](VjpContext& ctx) {
                                  return keep_where(taken_self(ctx, Op::ge_Tensor), ctx.grad());
                                }},
                               {"other",
                                [](VjpContext& ctx) {
                                  return zero_where(taken_self(ctx, Op::ge_Tensor), ctx.grad());
                                }}}),
      elementwise({Op::fmin}, {{"self",
                                [](VjpContext& ctx) {
                                  return keep_where(taken_self(ctx, Op::le_Tensor), ctx.grad());
                                }},
                               {"other",
                                [](VjpContext& ctx) {
                                  return zero_where(taken_self(ctx, Op::le_Tensor), ctx.grad());
                                }}}),
      elementwise({Op::clamp, Op::clamp_Tensor, Op::clamp_min, Op::clamp_min_Tensor, Op::clamp_max,
                   Op::clamp_max_Tensor},
                  {{"self", clamp_self}, {"min", clamp_bound_min}, {"max", clamp_bound_max}}),
      elementwise(
          {Op::where_self, Op::where_ScalarSelf, Op::where_ScalarOther},
          {{"self", [](VjpContext& ctx) { return keep_where(ctx["condition"], ctx.grad()); }},
           {"other", [](VjpContext& ctx) { return zero_where(ctx["condition"], ctx.grad()); }}}),
  };
}

DerivativeRules copies() {
  return {
      elementwise({Op::clone, Op::_to_copy, Op::lift_fresh_copy, Op::_to_sparse,
                   Op::_to_sparse_sparse_dim, Op::_to_dense},
                  {{"self", same}}),
      elementwise({Op::prims_convert_element_type}, {{"a", same}}),
      elementwise({Op::prims_device_put}, {{"a", back_on_device}}),
      elementwise({Op::copy}, {{"self", nothing}, {"src", same}}),
      elementwise({Op::fill_Scalar, Op::fill_Tensor}, {{"self", nothing}, {"value", same}}),
      elementwise({Op::zero}, {{"self", nothing}}),
  };
}

}  // namespace

DerivativeRules arithmetic_rules() {
  DerivativeRules rows;
  for (const auto family : {sums_and_products, powers, choices, copies})
    for (DerivativeRule& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff

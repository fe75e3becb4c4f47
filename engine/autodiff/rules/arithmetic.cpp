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
Value cast(Site& s, std::string_view parameter) {
  return s.b.convert(s[parameter], s.out_type().dtype);
}

bool rounds(Site& s) { return s.has("rounding_mode") && s.is_given("rounding_mode"); }

Value quotient_self(Site& s) { return rounds(s) ? Value() : over(s.grad(), s.given("other")); }
Value quotient_other(Site& s) {
  return rounds(s) ? Value() : -(over(s.grad(), s.given("other")) * s.out());
}

// The rounded quotient of `self` and `other`.
Value times_it_goes(Site& s, const char* rounding) {
  return s.b(Op::div_Tensor_mode, {s["self"], s["other"]}, {{"rounding_mode", rounding}});
}

// x^e has derivative e x^(e-1), which is 0 where e is, even for x = 0.
Value power_base(Site& s) {
  const Scalar number = s.call().scalar("exponent");
  if (s.call().is_tensor("exponent")) {
    const Value e = cast(s, "exponent");
    const Value slope = e * s.b(Op::pow_Tensor_Tensor, {cast(s, "self"), e - 1});
    return zero_where(s.b(Op::eq_Scalar, {e, 0}), s.grad() * slope);
  }
  if (number.real == 0) return {};
  if (number.real == 1) return s.grad();
  const Argument less =
      number.category == DType::f64 ? Argument(number.real - 1) : Argument(number.integer - 1);
  const Value slope =
      number.real == 2 ? cast(s, "self") : s.b(Op::pow_Tensor_Scalar, {cast(s, "self"), less});
  return s.grad() * times(slope, s.given("exponent"));
}

// x^e log x; where x is 0 and e is not negative, 0.
Value power_exponent(Site& s) {
  const Value x = cast(s, "self"), e = cast(s, "exponent");
  const Value flat = both(s.b(Op::eq_Scalar, {x, 0}), s.b(Op::ge_Scalar, {e, 0}));
  return s.grad() * zero_where(flat, s.out() * s.b.log(x));
}

// Equal operands get half of the gradient each.
Value extreme(Site& s, const char* mine, const char* its, Op loses) {
  const Value a = s[mine], b = s[its];
  const Value half = s.b.where(s.b(Op::eq_Tensor, {a, b}), s.grad() / 2, s.grad());
  return zero_where(s.b(loses, {a, b}), half);
}

// fmax and fmin: `self` is taken where it wins or draws, and where the other is NaN.
Value taken_self(Site& s, Op wins) {
  const Value a = s["self"], b = s["other"];
  return either(s.b(wins, {a, b}), s.b(Op::isnan, {b}));
}

Value clamp_self(Site& s) {
  Value inside;
  if (s.has("min") && s.is_given("min")) inside = binary(Op::ge_Tensor, s["self"], s["min"]);
  if (s.has("max") && s.is_given("max")) {
    const Value below = binary(Op::le_Tensor, s["self"], s["max"]);
    inside = inside.valid() ? both(inside, below) : below;
  }
  return inside.valid() ? keep_where(inside, s.grad()) : s.grad();
}

Value clamp_bound_min(Site& s) {
  Value held = binary(Op::lt_Tensor, s["self"], s["min"]);
  if (s.has("max") && s.is_given("max"))
    held = both(held, binary(Op::lt_Tensor, s["min"], s["max"]));
  return keep_where(held, s.grad());
}

Value clamp_bound_max(Site& s) {
  Value held = binary(Op::gt_Tensor, s["self"], s["max"]);
  if (s.has("min") && s.is_given("min"))
    held = either(held, binary(Op::lt_Tensor, s["max"], s["min"]));
  return keep_where(held, s.grad());
}

Value back_on_device(Site& s) {
  const std::string& device = s["a"].type().device;
  if (device == s.grad().type().device || device.empty()) return s.grad();
  return s.b(Op::prims_device_put, {s.grad(), device});
}

Rows sums_and_products() {
  return {
      elementwise({Op::add_Tensor, Op::add_Scalar, Op::prims_add},
                  {{"self", same}, {"other", [](Site& s) { return s.scaled(s.grad(), "alpha"); }}}),
      elementwise(
          {Op::sub_Tensor, Op::sub_Scalar, Op::prims_sub},
          {{"self", same}, {"other", [](Site& s) { return -s.scaled(s.grad(), "alpha"); }}}),
      elementwise(
          {Op::rsub_Tensor, Op::rsub_Scalar},
          {{"self", [](Site& s) { return -s.scaled(s.grad(), "alpha"); }}, {"other", same}}),
      elementwise({Op::mul_Tensor, Op::mul_Scalar, Op::prims_mul},
                  {{"self", [](Site& s) { return times(s.grad(), s.given("other")); }},
                   {"other", [](Site& s) { return times(s.grad(), s.given("self")); }}}),
      elementwise(
          {Op::div_Tensor, Op::div_Scalar, Op::prims_div, Op::div_Tensor_mode, Op::div_Scalar_mode},
          {{"self", quotient_self}, {"other", quotient_other}}),
      elementwise({Op::floor_divide, Op::floor_divide_Scalar},
                  {{"self", nothing}, {"other", nothing}}),
      elementwise({Op::remainder_Tensor, Op::remainder_Scalar, Op::remainder_Scalar_Tensor},
                  {{"self", same},
                   {"other", [](Site& s) { return -(s.grad() * times_it_goes(s, "floor")); }}}),
      elementwise({Op::fmod_Tensor, Op::fmod_Scalar},
                  {{"self", same},
                   {"other", [](Site& s) { return -(s.grad() * times_it_goes(s, "trunc")); }}}),
      elementwise(
          {Op::addcmul},
          {{"self", same},
           {"tensor1", [](Site& s) { return s.scaled(s.grad(), "value") * s["tensor2"]; }},
           {"tensor2", [](Site& s) { return s.scaled(s.grad(), "value") * s["tensor1"]; }}}),
      elementwise({Op::addcdiv},
                  {{"self", same},
                   {"tensor1", [](Site& s) { return s.scaled(s.grad(), "value") / s["tensor2"]; }},
                   {"tensor2",
                    [](Site& s) {
                      const Value d = s["tensor2"];
                      return -(s.scaled(s.grad(), "value") * (s["tensor1"] / d) / d);
                    }}}),
      elementwise({Op::lerp_Scalar, Op::lerp_Tensor},
                  {{"self", [](Site& s) { return s.grad() * (1 - s["weight"]); }},
                   {"end", [](Site& s) { return times(s.grad(), s.given("weight")); }},
                   {"weight", [](Site& s) { return s.grad() * (s["end"] - s["self"]); }}}),
      elementwise({Op::ldexp_Tensor},
                  {{"self", [](Site& s) { return s.grad() * unary(Op::exp2, cast(s, "other")); }},
                   {"other", [](Site& s) { return s.grad() * s.out() * kLn2; }}}),
      elementwise({Op::prims_fma},
                  {{"self", [](Site& s) { return times(s.grad(), s.given("other")); }},
                   {"other", [](Site& s) { return times(s.grad(), s.given("self")); }},
                   {"addend", same}}),
  };
}

Rows powers() {
  return {
      elementwise({Op::pow_Tensor_Tensor, Op::pow_Tensor_Scalar, Op::float_power_Tensor_Tensor,
                   Op::float_power_Tensor_Scalar},
                  {{"self", power_base}, {"exponent", power_exponent}}),
      elementwise({Op::pow_Scalar, Op::float_power_Scalar}, {{"exponent", power_exponent}}),
  };
}

Rows choices() {
  return {
      elementwise({Op::maximum, Op::max_other},
                  {{"self", [](Site& s) { return extreme(s, "self", "other", Op::lt_Tensor); }},
                   {"other", [](Site& s) { return extreme(s, "other", "self", Op::lt_Tensor); }}}),
      elementwise({Op::minimum, Op::min_other},
                  {{"self", [](Site& s) { return extreme(s, "self", "other", Op::gt_Tensor); }},
                   {"other", [](Site& s) { return extreme(s, "other", "self", Op::gt_Tensor); }}}),
      elementwise(
          {Op::fmax},
          {{"self", [](Site& s) { return keep_where(taken_self(s, Op::ge_Tensor), s.grad()); }},
           {"other", [](Site& s) { return zero_where(taken_self(s, Op::ge_Tensor), s.grad()); }}}),
      elementwise(
          {Op::fmin},
          {{"self", [](Site& s) { return keep_where(taken_self(s, Op::le_Tensor), s.grad()); }},
           {"other", [](Site& s) { return zero_where(taken_self(s, Op::le_Tensor), s.grad()); }}}),
      elementwise({Op::clamp, Op::clamp_Tensor, Op::clamp_min, Op::clamp_min_Tensor, Op::clamp_max,
                   Op::clamp_max_Tensor},
                  {{"self", clamp_self}, {"min", clamp_bound_min}, {"max", clamp_bound_max}}),
      elementwise({Op::where_self, Op::where_ScalarSelf, Op::where_ScalarOther},
                  {{"self", [](Site& s) { return keep_where(s["condition"], s.grad()); }},
                   {"other", [](Site& s) { return zero_where(s["condition"], s.grad()); }}}),
  };
}

Rows copies() {
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

Rows arithmetic_rows() {
  Rows rows;
  for (const auto family : {sums_and_products, powers, choices, copies})
    for (Row& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff

// Signs and rounding, exponentials, roots and trigonometry: element-wise functions of one or two
// operands.
//
// A rule reads the output instead of the operand if the derivative is a function of the output
// (exp, sqrt, tanh), as PyTorch's do: it computes less.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// Integer operands are converted: the formula reads its operand in the output's dtype.
Value copysign_self(Site& s) {
  const Value x = x_of(s);
  return s.grad() * zero_where(s.b(Op::eq_Scalar, {x, 0}), s.out() / x);
}

Value nan_to_num(Site& s) { return keep_where(s.b(Op::isfinite, {s["self"]}), s.grad()); }

// d sinc: (pi x cos(pi x) - sin(pi x)) / (pi x^2), and 0 at 0.
Value sinc(Site& s) {
  const Value x = x_of(s), px = x * kPi;
  const Value slope = (px * unary(Op::cos, px) - unary(Op::sin, px)) / (px * x);
  return s.grad() * zero_where(s.b(Op::eq_Scalar, {x, 0}), slope);
}

Value hypot_part(Site& s, const Value& part) {
  const Value slope = part / s.out();
  return s.grad() * zero_where(s.b(Op::eq_Scalar, {s.out(), 0}), slope);
}

Value atan2_part(Site& s, const Value& numerator) {
  const Value square = squared(x_of(s)) + squared(y_of(s));
  return s.grad() * zero_where(s.b(Op::eq_Scalar, {square, 0}), numerator / square);
}

// The share of one term in log(exp(self) + exp(other)): a sigmoid of the difference.
Value share(Site& s, const Value& mine, const Value& its, double scale) {
  const Value difference = zero_where(s.b(Op::eq_Tensor, {mine, its}), mine - its);
  return s.grad() * unary(Op::sigmoid, scale == 1 ? difference : difference * scale);
}

Value xlogy_self(Site& s) {
  const Value x = x_of(s), y = y_of(s);
  const Value flat = both(s.b(Op::eq_Scalar, {x, 0}), s.b(Op::le_Scalar, {y, 0}));
  return s.grad() * zero_where(flat, s.b.log(y));
}

Rows signs_and_rounding() {
  return {
      elementwise({Op::abs},
                  {{"self", [](Site& s) { return s.grad() * unary(Op::sgn, s["self"]); }}}),
      elementwise({Op::neg}, {{"self", [](Site& s) { return -s.grad(); }}}),
      elementwise({Op::positive, Op::frac}, {{"self", same}}),
      elementwise({Op::sign, Op::sgn, Op::floor, Op::ceil, Op::trunc, Op::fix, Op::round,
                   Op::round_decimals, Op::angle},
                  {{"self", nothing}}),
      elementwise({Op::square}, {{"self", [](Site& s) { return s.grad() * (s["self"] * 2); }}}),
      elementwise({Op::copysign_Tensor, Op::copysign_Scalar},
                  {{"self", copysign_self}, {"other", nothing}}),
      elementwise({Op::nan_to_num}, {{"self", nan_to_num}}),
      elementwise({Op::deg2rad}, {{"self", [](Site& s) { return s.grad() * (kPi / 180); }}}),
      elementwise({Op::rad2deg}, {{"self", [](Site& s) { return s.grad() * (180 / kPi); }}}),
      formulas({Op::frexp_Tensor},
               {{"self",
                 [](Site& s) {
                   const Value e = s.b.convert(s.out(1), s.out_type().dtype);
                   return s.grad() * unary(Op::exp2, -e);
                 }}},
               1),
  };
}

Rows exponentials_and_roots() {
  return {
      elementwise({Op::exp}, {{"self", [](Site& s) { return s.grad() * s.out(); }}}),
      elementwise({Op::exp2}, {{"self", [](Site& s) { return s.grad() * s.out() * kLn2; }}}),
      elementwise({Op::expm1}, {{"self", [](Site& s) { return s.grad() * (s.out() + 1); }}}),
      elementwise({Op::log}, {{"self", [](Site& s) { return s.grad() / x_of(s); }}}),
      elementwise({Op::log2}, {{"self", [](Site& s) { return s.grad() / (x_of(s) * kLn2); }}}),
      elementwise({Op::log10}, {{"self", [](Site& s) { return s.grad() / (x_of(s) * kLn10); }}}),
      elementwise({Op::log1p}, {{"self", [](Site& s) { return s.grad() / (x_of(s) + 1); }}}),
      elementwise({Op::sqrt}, {{"self", [](Site& s) { return s.grad() / (s.out() * 2); }}}),
      elementwise({Op::rsqrt}, {{"self",
                                 [](Site& s) {
                                   const Value r = s.out();
                                   return s.grad() * (r * r * r * -0.5);
                                 }}}),
      elementwise({Op::reciprocal},
                  {{"self", [](Site& s) { return -(s.grad() * squared(s.out())); }}}),
      elementwise({Op::logaddexp},
                  {{"self", [](Site& s) { return share(s, x_of(s), y_of(s), 1); }},
                   {"other", [](Site& s) { return share(s, y_of(s), x_of(s), 1); }}}),
      elementwise({Op::logaddexp2},
                  {{"self", [](Site& s) { return share(s, x_of(s), y_of(s), kLn2); }},
                   {"other", [](Site& s) { return share(s, y_of(s), x_of(s), kLn2); }}}),
      elementwise(
          {Op::xlogy_Tensor, Op::xlogy_Scalar_Self, Op::xlogy_Scalar_Other},
          {{"self", xlogy_self}, {"other", [](Site& s) { return s.grad() * x_of(s) / y_of(s); }}}),
      elementwise({Op::logit},
                  {{"self",
                    [](Site& s) {
                      return s.b(Op::logit_backward, {s.grad(), s["self"], s.given("eps")});
                    }}}),
      elementwise({Op::sigmoid}, {{"self",
                                   [](Site& s) {
                                     return s.b(Op::sigmoid_backward, {s.grad(), s.out()});
                                   }}}),
  };
}

Rows trigonometry() {
  return {
      elementwise({Op::sin},
                  {{"self", [](Site& s) { return s.grad() * unary(Op::cos, x_of(s)); }}}),
      elementwise({Op::cos},
                  {{"self", [](Site& s) { return -(s.grad() * unary(Op::sin, x_of(s))); }}}),
      elementwise({Op::tan}, {{"self", [](Site& s) { return s.grad() * (squared(s.out()) + 1); }}}),
      elementwise(
          {Op::asin},
          {{"self", [](Site& s) { return s.grad() * unary(Op::rsqrt, 1 - squared(x_of(s))); }}}),
      elementwise(
          {Op::acos},
          {{"self", [](Site& s) { return -(s.grad() * unary(Op::rsqrt, 1 - squared(x_of(s)))); }}}),
      elementwise({Op::atan},
                  {{"self", [](Site& s) { return s.grad() / (squared(x_of(s)) + 1); }}}),
      elementwise({Op::sinh},
                  {{"self", [](Site& s) { return s.grad() * unary(Op::cosh, x_of(s)); }}}),
      elementwise({Op::cosh},
                  {{"self", [](Site& s) { return s.grad() * unary(Op::sinh, x_of(s)); }}}),
      elementwise({Op::tanh}, {{"self",
                                [](Site& s) {
                                  return s.b(Op::tanh_backward, {s.grad(), s.out()});
                                }}}),
      elementwise(
          {Op::asinh},
          {{"self", [](Site& s) { return s.grad() * unary(Op::rsqrt, squared(x_of(s)) + 1); }}}),
      elementwise(
          {Op::acosh},
          {{"self", [](Site& s) { return s.grad() * unary(Op::rsqrt, squared(x_of(s)) - 1); }}}),
      elementwise({Op::atanh},
                  {{"self", [](Site& s) { return s.grad() / (1 - squared(x_of(s))); }}}),
      elementwise({Op::sinc}, {{"self", sinc}}),
      elementwise({Op::atan2}, {{"self", [](Site& s) { return atan2_part(s, y_of(s)); }},
                                {"other", [](Site& s) { return atan2_part(s, -x_of(s)); }}}),
      elementwise({Op::hypot}, {{"self", [](Site& s) { return hypot_part(s, x_of(s)); }},
                                {"other", [](Site& s) { return hypot_part(s, y_of(s)); }}}),
  };
}

}  // namespace

Rows function_rows() {
  Rows rows;
  for (const auto family : {signs_and_rounding, exponentials_and_roots, trigonometry})
    for (Row& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff

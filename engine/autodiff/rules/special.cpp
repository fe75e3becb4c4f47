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

Value times_grad(Site& s, const Value& slope) { return s.grad() * slope; }

Value gaussian(const Value& x, double scale) { return unary(Op::exp, -squared(x)) * scale; }

Value polygamma(Site& s, std::int64_t order) { return s.b(Op::polygamma, {order, x_of(s)}); }

// The sum of digamma at self, self - 1/2, …, one a term of the multivariate log-gamma function.
Value mvlgamma(Site& s) {
  Value sum;
  for (std::int64_t j = 0; j < s.integer("p"); ++j)
    sum = plus(sum, unary(Op::digamma, x_of(s) - 0.5 * static_cast<double>(j)));
  return times_grad(s, sum);
}

// The density of the gamma distribution: what igamma's derivative by `other` is.
Value gamma_density(Site& s) {
  const Value a = x_of(s), x = y_of(s);
  const Value logarithm = (a - 1) * s.b.log(x) - x - unary(Op::lgamma, a);
  return s.grad() * s.b.exp(logarithm);
}

// d log_ndtr = exp(-x^2/2) / (ndtr(x) sqrt(2 pi)): through erfcx, which does not underflow.
Value log_ndtr(Site& s) {
  const Value x = x_of(s);
  const Value scaled = unary(Op::special_erfcx, x * -0.70710678118654752440);
  return s.grad() * (0.79788456080286535588 / scaled);
}

Value i1(Site& s) {
  const Value x = x_of(s);
  const Value at_zero = s.b(Op::eq_Scalar, {x, 0});
  const Value safe = number_where(at_zero, 1, x);
  const Value slope = unary(Op::i0, x) - s.out() / safe;
  return s.grad() * number_where(at_zero, 0.5, slope);
}

Value i1e(Site& s) {
  const Value x = x_of(s);
  const Value at_zero = s.b(Op::eq_Scalar, {x, 0});
  const Value safe = number_where(at_zero, 1, x);
  const Value slope = unary(Op::special_i0e, x) - s.out() * (unary(Op::sgn, x) + 1 / safe);
  return s.grad() * number_where(at_zero, 0.5, slope);
}

Value xlog1py_self(Site& s) {
  const Value x = x_of(s), y = y_of(s);
  const Value flat = both(s.b(Op::eq_Scalar, {x, 0}), s.b(Op::le_Scalar, {y, -1}));
  return s.grad() * zero_where(flat, unary(Op::log1p, y));
}

// d/dq zeta(s, q) = -s zeta(s + 1, q).
Value zeta_other(Site& s) {
  const Value order = x_of(s);
  return -(s.grad() * order * s.b(Op::special_zeta, {order + 1, y_of(s)}));
}

Value by_first_operand(Site& s) { return s.b.fail("there is none by the first operand"); }

Rows error_functions() {
  return {
      elementwise(
          {Op::erf},
          {{"self", [](Site& s) { return times_grad(s, gaussian(x_of(s), kTwoOverSqrtPi)); }}}),
      elementwise(
          {Op::erfc},
          {{"self", [](Site& s) { return times_grad(s, gaussian(x_of(s), -kTwoOverSqrtPi)); }}}),
      elementwise({Op::erfinv}, {{"self",
                                  [](Site& s) {
                                    return times_grad(s, s.b.exp(squared(s.out())) * kHalfSqrtPi);
                                  }}}),
      elementwise(
          {Op::special_erfcx},
          {{"self",
            [](Site& s) { return times_grad(s, x_of(s) * s.out() * 2 - kTwoOverSqrtPi); }}}),
      elementwise({Op::special_ndtr}, {{"self",
                                        [](Site& s) {
                                          return times_grad(s, s.b.exp(squared(x_of(s)) * -0.5) *
                                                                   kOneOverSqrtTwoPi);
                                        }}}),
      elementwise(
          {Op::special_ndtri},
          {{"self",
            [](Site& s) { return times_grad(s, s.b.exp(squared(s.out()) * 0.5) * kSqrtTwoPi); }}}),
      elementwise({Op::special_log_ndtr}, {{"self", log_ndtr}}),
  };
}

Rows gamma_functions() {
  return {
      elementwise({Op::lgamma},
                  {{"self", [](Site& s) { return times_grad(s, unary(Op::digamma, x_of(s))); }}}),
      elementwise({Op::digamma},
                  {{"self", [](Site& s) { return times_grad(s, polygamma(s, 1)); }}}),
      elementwise(
          {Op::polygamma},
          {{"self", [](Site& s) { return times_grad(s, polygamma(s, s.integer("n") + 1)); }}}),
      elementwise({Op::mvlgamma}, {{"self", mvlgamma}}),
      elementwise({Op::igamma}, {{"self", by_first_operand}, {"other", gamma_density}}),
      elementwise({Op::igammac}, {{"self", by_first_operand},
                                  {"other", [](Site& s) { return -gamma_density(s); }}}),
      elementwise({Op::special_zeta, Op::special_zeta_self_scalar, Op::special_zeta_other_scalar},
                  {{"self", by_first_operand}, {"other", zeta_other}}),
  };
}

Rows bessel_functions() {
  return {
      elementwise(
          {Op::i0},
          {{"self", [](Site& s) { return times_grad(s, unary(Op::special_i1, x_of(s))); }}}),
      elementwise({Op::special_i0e}, {{"self",
                                       [](Site& s) {
                                         const Value x = x_of(s);
                                         return times_grad(s, unary(Op::special_i1e, x) -
                                                                  unary(Op::sgn, x) * s.out());
                                       }}}),
      elementwise({Op::special_i1}, {{"self", i1}}),
      elementwise({Op::special_i1e}, {{"self", i1e}}),
  };
}

Rows logarithms() {
  return {
      elementwise({Op::special_entr},
                  {{"self", [](Site& s) { return times_grad(s, -s.b.log(x_of(s)) - 1); }}}),
      elementwise(
          {Op::special_xlog1py, Op::special_xlog1py_self_scalar, Op::special_xlog1py_other_scalar},
          {{"self", xlog1py_self},
           {"other", [](Site& s) { return s.grad() * x_of(s) / (y_of(s) + 1); }}}),
  };
}

}  // namespace

Rows special_rows() {
  Rows rows;
  for (const auto family : {error_functions, gamma_functions, bessel_functions, logarithms})
    for (Row& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff

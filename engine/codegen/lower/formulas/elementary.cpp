// Functions of real numbers.
#include "engine/codegen/lower/formula.h"
#include "engine/support/constants.h"

namespace recut::loop {
namespace {

ScalarExpr sinc(ScalarExpr x) { return select(x == 0.0, x.like(1), sin(kPi * x) / (kPi * x)); }

ScalarExpr logit(const ElementContext& ctx) {
  ScalarExpr x = ctx.operand("self", ctx.real_common());
  if (ctx.call.given("eps")) {
    const double eps = ctx.call.real("eps");
    x = select(x < eps, x.like(eps), select(x > 1 - eps, x.like(1 - eps), x));
  }
  return log(x / (1.0 - x));
}

// logaddexp: equal infinities have no difference.
ScalarExpr logaddexp(ScalarExpr a, ScalarExpr b) {
  const ScalarExpr sum = larger(a, b) + log1p(exp(-abs(a - b)));
  return select(is_infinite(a) & (a == b), a, sum);
}
ScalarExpr logaddexp2(ScalarExpr a, ScalarExpr b) {
  const ScalarExpr sum = larger(a, b) + log2(1.0 + exp2(-abs(a - b)));
  return select(is_infinite(a) & (a == b), a, sum);
}

ScalarExpr xlogy(ScalarExpr x, ScalarExpr y) {
  return select(is_nan(y), y, select(x == 0.0, x.like(0), x * log(y)));
}
ScalarExpr xlog1py(ScalarExpr x, ScalarExpr y) {
  return select(is_nan(y), y, select(x == 0.0, x.like(0), x * log1p(y)));
}

ScalarExpr entropy(ScalarExpr x) {
  const ScalarExpr otherwise = select(x == 0.0, x.like(0), select(is_nan(x), x, x.like(-HUGE_VAL)));
  return select(x > 0.0, -x * log(x), otherwise);
}

// frexp: the mantissa in [0.5, 1) and the exponent, from a logarithm that rounding may shift by
// one. The power of two is applied in two halves, which neither overflow nor lose digits.
ScalarExpr frexp(const ElementContext& ctx) {
  const ScalarExpr x = ctx.raw("self").to(DType::f64);
  const ScalarExpr guess = floor(log2(abs(x))) + 1.0;
  const ScalarExpr half = trunc(guess / 2.0);
  const ScalarExpr scaled = x * exp2(-half) * exp2(half - guess);
  const ScalarExpr low = abs(scaled) < 0.5, high = abs(scaled) >= 1.0;
  const ScalarExpr ordinary = (x != 0.0) & (abs(x) < HUGE_VAL);
  const ScalarExpr mantissa = select(low, scaled * 2.0, select(high, scaled / 2.0, scaled));
  const ScalarExpr exponent = select(low, guess - 1.0, select(high, guess + 1.0, guess));
  if (ctx.output.output == 0) return select(ordinary, mantissa, x);
  return select(ordinary, exponent, x.like(0)).to(DType::i64);
}

void add_roots_and_logarithms(FormulaTable& table) {
  table.insert(table.end(),
               {{Op::exp, real([](ScalarExpr x) { return exp(x); })},
                {Op::exp2, real([](ScalarExpr x) { return exp2(x); })},
                {Op::expm1, real([](ScalarExpr x) { return expm1(x); })},
                {Op::log, real([](ScalarExpr x) { return log(x); })},
                {Op::log2, real([](ScalarExpr x) { return log2(x); })},
                {Op::log10, real([](ScalarExpr x) { return log10(x); })},
                {Op::log1p, real([](ScalarExpr x) { return log1p(x); })},
                {Op::sqrt, real([](ScalarExpr x) { return sqrt(x); })},
                {Op::rsqrt, real([](ScalarExpr x) { return 1.0 / sqrt(x); })},
                {Op::reciprocal, real([](ScalarExpr x) { return 1.0 / x; })},
                {Op::sigmoid, real([](ScalarExpr x) { return 1.0 / (1.0 + exp(-x)); })},
                {Op::logit, logit},
                {Op::frexp_Tensor, frexp},
                {Op::erf, real([](ScalarExpr x) { return erf(x); })},
                {Op::erfc, real([](ScalarExpr x) { return erfc(x); })},
                {Op::lgamma, real([](ScalarExpr x) { return lgamma(x); })},
                {Op::special_ndtr, real([](ScalarExpr x) { return 0.5 * erfc(-x * kInvSqrt2); })},
                {Op::special_entr, real([](ScalarExpr x) { return entropy(x); })}});
}

void add_trigonometry(FormulaTable& table) {
  table.insert(table.end(), {{Op::sin, real([](ScalarExpr x) { return sin(x); })},
                             {Op::cos, real([](ScalarExpr x) { return cos(x); })},
                             {Op::tan, real([](ScalarExpr x) { return tan(x); })},
                             {Op::asin, real([](ScalarExpr x) { return asin(x); })},
                             {Op::acos, real([](ScalarExpr x) { return acos(x); })},
                             {Op::atan, real([](ScalarExpr x) { return atan(x); })},
                             {Op::sinh, real([](ScalarExpr x) { return sinh(x); })},
                             {Op::cosh, real([](ScalarExpr x) { return cosh(x); })},
                             {Op::tanh, real([](ScalarExpr x) { return tanh(x); })},
                             {Op::asinh, real([](ScalarExpr x) { return asinh(x); })},
                             {Op::acosh, real([](ScalarExpr x) { return acosh(x); })},
                             {Op::atanh, real([](ScalarExpr x) { return atanh(x); })},
                             {Op::sinc, real([](ScalarExpr x) { return sinc(x); })}});
}

}  // namespace

void add_elementary_formulas(FormulaTable& table) {
  add_roots_and_logarithms(table);
  add_trigonometry(table);
  table.push_back({Op::atan2, reals([](ScalarExpr a, ScalarExpr b) { return atan2(a, b); })});
  table.push_back({Op::hypot, reals([](ScalarExpr a, ScalarExpr b) { return hypot(a, b); })});
  table.push_back(
      {Op::logaddexp, reals([](ScalarExpr a, ScalarExpr b) { return logaddexp(a, b); })});
  table.push_back(
      {Op::logaddexp2, reals([](ScalarExpr a, ScalarExpr b) { return logaddexp2(a, b); })});
  for (const Op op : {Op::xlogy_Tensor, Op::xlogy_Scalar_Self, Op::xlogy_Scalar_Other})
    table.push_back({op, reals([](ScalarExpr x, ScalarExpr y) { return xlogy(x, y); })});
  for (const Op op :
       {Op::special_xlog1py, Op::special_xlog1py_self_scalar, Op::special_xlog1py_other_scalar})
    table.push_back({op, reals([](ScalarExpr x, ScalarExpr y) { return xlog1py(x, y); })});
}

}  // namespace recut::loop

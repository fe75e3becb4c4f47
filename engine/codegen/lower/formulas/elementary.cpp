// Functions of real numbers.
#include "engine/codegen/lower/formula.h"
#include "engine/support/constants.h"

namespace recut::loop {
namespace {

Quantity sinc(Quantity x) { return select(x == 0.0, x.like(1), sin(kPi * x) / (kPi * x)); }

Quantity logit(const Site& s) {
  Quantity x = s.operand("self", s.real_common());
  if (s.call.given("eps")) {
    const double eps = s.call.real("eps");
    x = select(x < eps, x.like(eps), select(x > 1 - eps, x.like(1 - eps), x));
  }
  return log(x / (1.0 - x));
}

// logaddexp: equal infinities have no difference.
Quantity logaddexp(Quantity a, Quantity b) {
  const Quantity sum = larger(a, b) + log1p(exp(-abs(a - b)));
  return select(is_infinite(a) & (a == b), a, sum);
}
Quantity logaddexp2(Quantity a, Quantity b) {
  const Quantity sum = larger(a, b) + log2(1.0 + exp2(-abs(a - b)));
  return select(is_infinite(a) & (a == b), a, sum);
}

Quantity xlogy(Quantity x, Quantity y) {
  return select(is_nan(y), y, select(x == 0.0, x.like(0), x * log(y)));
}
Quantity xlog1py(Quantity x, Quantity y) {
  return select(is_nan(y), y, select(x == 0.0, x.like(0), x * log1p(y)));
}

Quantity entropy(Quantity x) {
  const Quantity otherwise = select(x == 0.0, x.like(0), select(is_nan(x), x, x.like(-HUGE_VAL)));
  return select(x > 0.0, -x * log(x), otherwise);
}

// frexp: the mantissa in [0.5, 1) and the exponent, from a logarithm that rounding may shift by
// one. The power of two is applied in two halves, which neither overflow nor lose digits.
Quantity frexp(const Site& s) {
  const Quantity x = s.raw("self").to(DType::f64);
  const Quantity guess = floor(log2(abs(x))) + 1.0;
  const Quantity half = trunc(guess / 2.0);
  const Quantity scaled = x * exp2(-half) * exp2(half - guess);
  const Quantity low = abs(scaled) < 0.5, high = abs(scaled) >= 1.0;
  const Quantity ordinary = (x != 0.0) & (abs(x) < HUGE_VAL);
  const Quantity mantissa = select(low, scaled * 2.0, select(high, scaled / 2.0, scaled));
  const Quantity exponent = select(low, guess - 1.0, select(high, guess + 1.0, guess));
  if (s.made.output == 0) return select(ordinary, mantissa, x);
  return select(ordinary, exponent, x.like(0)).to(DType::i64);
}

void add_roots_and_logarithms(FormulaTable& table) {
  table.insert(table.end(),
               {{Op::exp, real([](Quantity x) { return exp(x); })},
                {Op::exp2, real([](Quantity x) { return exp2(x); })},
                {Op::expm1, real([](Quantity x) { return expm1(x); })},
                {Op::log, real([](Quantity x) { return log(x); })},
                {Op::log2, real([](Quantity x) { return log2(x); })},
                {Op::log10, real([](Quantity x) { return log10(x); })},
                {Op::log1p, real([](Quantity x) { return log1p(x); })},
                {Op::sqrt, real([](Quantity x) { return sqrt(x); })},
                {Op::rsqrt, real([](Quantity x) { return 1.0 / sqrt(x); })},
                {Op::reciprocal, real([](Quantity x) { return 1.0 / x; })},
                {Op::sigmoid, real([](Quantity x) { return 1.0 / (1.0 + exp(-x)); })},
                {Op::logit, logit},
                {Op::frexp_Tensor, frexp},
                {Op::erf, real([](Quantity x) { return erf(x); })},
                {Op::erfc, real([](Quantity x) { return erfc(x); })},
                {Op::lgamma, real([](Quantity x) { return lgamma(x); })},
                {Op::special_ndtr, real([](Quantity x) { return 0.5 * erfc(-x * kRootHalf); })},
                {Op::special_entr, real([](Quantity x) { return entropy(x); })}});
}

void add_trigonometry(FormulaTable& table) {
  table.insert(table.end(), {{Op::sin, real([](Quantity x) { return sin(x); })},
                             {Op::cos, real([](Quantity x) { return cos(x); })},
                             {Op::tan, real([](Quantity x) { return tan(x); })},
                             {Op::asin, real([](Quantity x) { return asin(x); })},
                             {Op::acos, real([](Quantity x) { return acos(x); })},
                             {Op::atan, real([](Quantity x) { return atan(x); })},
                             {Op::sinh, real([](Quantity x) { return sinh(x); })},
                             {Op::cosh, real([](Quantity x) { return cosh(x); })},
                             {Op::tanh, real([](Quantity x) { return tanh(x); })},
                             {Op::asinh, real([](Quantity x) { return asinh(x); })},
                             {Op::acosh, real([](Quantity x) { return acosh(x); })},
                             {Op::atanh, real([](Quantity x) { return atanh(x); })},
                             {Op::sinc, real([](Quantity x) { return sinc(x); })}});
}

}  // namespace

void add_elementary_formulas(FormulaTable& table) {
  add_roots_and_logarithms(table);
  add_trigonometry(table);
  table.push_back({Op::atan2, reals([](Quantity a, Quantity b) { return atan2(a, b); })});
  table.push_back({Op::hypot, reals([](Quantity a, Quantity b) { return hypot(a, b); })});
  table.push_back({Op::logaddexp, reals([](Quantity a, Quantity b) { return logaddexp(a, b); })});
  table.push_back({Op::logaddexp2, reals([](Quantity a, Quantity b) { return logaddexp2(a, b); })});
  for (const Op op : {Op::xlogy_Tensor, Op::xlogy_Scalar_Self, Op::xlogy_Scalar_Other})
    table.push_back({op, reals([](Quantity x, Quantity y) { return xlogy(x, y); })});
  for (const Op op :
       {Op::special_xlog1py, Op::special_xlog1py_self_scalar, Op::special_xlog1py_other_scalar})
    table.push_back({op, reals([](Quantity x, Quantity y) { return xlog1py(x, y); })});
}

}  // namespace recut::loop

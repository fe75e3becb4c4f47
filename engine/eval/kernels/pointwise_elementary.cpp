// Exponentials, logarithms, roots and trigonometry.
#include <algorithm>
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/pointwise.h"
#include "engine/support/constants.h"

namespace recut {
namespace {

using namespace elementwise;

double sinc(double x) { return x == 0 ? 1.0 : std::sin(kPi * x) / (kPi * x); }

Result<Done> logit(KernelContext& c) {
  const bool clamped = c.call.given("eps");
  const double eps = clamped ? c.call.real("eps") : 0;
  return reals(
      c,
      [=](double x) {
        if (clamped) x = x < eps ? eps : (x > 1 - eps ? 1 - eps : x);
        return std::log(x / (1 - x));
      },
      "self");
}

// Infinities of one sign have no difference to work with.
double logaddexp(double a, double b) {
  if (std::isinf(a) && a == b) return a;
  return larger(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}
double logaddexp2(double a, double b) {
  if (std::isinf(a) && a == b) return a;
  return larger(a, b) + std::log2(1 + std::exp2(-std::abs(a - b)));
}

double xlogy(double x, double y) {
  if (std::isnan(y)) return y;
  return x == 0 ? 0.0 : x * std::log(y);
}

double xlog1py(double x, double y) {
  if (std::isnan(y)) return y;
  return x == 0 ? 0.0 : x * std::log1p(y);
}

void add_roots_and_logarithms(KernelTable& table) {
  table.add(Op::exp, unary_real([](double x) { return std::exp(x); }));
  table.add(Op::exp2, unary_real([](double x) { return std::exp2(x); }));
  table.add(Op::expm1, unary_real([](double x) { return std::expm1(x); }));
  table.add(Op::log, unary_real([](double x) { return std::log(x); }));
  table.add(Op::log2, unary_real([](double x) { return std::log2(x); }));
  table.add(Op::log10, unary_real([](double x) { return std::log10(x); }));
  table.add(Op::log1p, unary_real([](double x) { return std::log1p(x); }));
  table.add(Op::sqrt, unary_real([](double x) { return std::sqrt(x); }));
  table.add(Op::rsqrt, unary_real([](double x) { return 1 / std::sqrt(x); }));
  table.add(Op::reciprocal, unary_real([](double x) { return 1 / x; }));
  table.add(Op::sigmoid, unary_real([](double x) { return 1 / (1 + std::exp(-x)); }));
  table.add(Op::logit, logit);
}

void add_trigonometry(KernelTable& table) {
  table.add(Op::sin, unary_real([](double x) { return std::sin(x); }));
  table.add(Op::cos, unary_real([](double x) { return std::cos(x); }));
  table.add(Op::tan, unary_real([](double x) { return std::tan(x); }));
  table.add(Op::asin, unary_real([](double x) { return std::asin(x); }));
  table.add(Op::acos, unary_real([](double x) { return std::acos(x); }));
  table.add(Op::atan, unary_real([](double x) { return std::atan(x); }));
  table.add(Op::sinh, unary_real([](double x) { return std::sinh(x); }));
  table.add(Op::cosh, unary_real([](double x) { return std::cosh(x); }));
  table.add(Op::tanh, unary_real([](double x) { return std::tanh(x); }));
  table.add(Op::asinh, unary_real([](double x) { return std::asinh(x); }));
  table.add(Op::acosh, unary_real([](double x) { return std::acosh(x); }));
  table.add(Op::atanh, unary_real([](double x) { return std::atanh(x); }));
  table.add(Op::sinc, unary_real([](double x) { return sinc(x); }));
}

}  // namespace

void add_elementary_kernels(KernelTable& table) {
  add_roots_and_logarithms(table);
  add_trigonometry(table);
  table.add(Op::atan2, binary_real([](double a, double b) { return std::atan2(a, b); }));
  table.add(Op::hypot, binary_real([](double a, double b) { return std::hypot(a, b); }));
  table.add(Op::logaddexp, binary_real([](double a, double b) { return logaddexp(a, b); }));
  table.add(Op::logaddexp2, binary_real([](double a, double b) { return logaddexp2(a, b); }));
  for (const Op op : {Op::xlogy_Tensor, Op::xlogy_Scalar_Self, Op::xlogy_Scalar_Other})
    table.add(op, binary_real([](double x, double y) { return xlogy(x, y); }));
  for (const Op op :
       {Op::special_xlog1py, Op::special_xlog1py_self_scalar, Op::special_xlog1py_other_scalar})
    table.add(op, binary_real([](double x, double y) { return xlog1py(x, y); }));
}

}  // namespace recut

// Element-wise functions of complex numbers. Functions of the C library keep its branch cuts, which
// are PyTorch's.
#include <cmath>

#include "engine/eval/kernels/complex_numbers.h"
#include "engine/eval/kernels/elementwise.h"
#include "engine/support/constants.h"

namespace recut {
namespace {

using namespace elementwise;

constexpr double kLogOf2 = 0.69314718055994530942;

// The dtype that the operands are cast to: complex, since one of them is.
DType complex_common(const KernelContext& c) { return complex_of(float_of(result_dtype(c.call))); }

template <class R, class F, class... Names>
Done complexes(KernelContext& c, F f, Names... names) {
  return apply<Complex, R>(c, complex_common(c), Numbers::arithmetic, f, names...);
}

// Kernels from plain functions. R is the element type of the result.
template <class R, class F>
Kernel complex_unary(F) {
  return [](KernelContext& c) -> Result<Done> {
    return complexes<R>(c, F{}, name_of_parameter(c, 0));
  };
}
template <class R, class F>
Kernel complex_binary(F) {
  return [](KernelContext& c) -> Result<Done> {
    return complexes<R>(c, F{}, name_of_parameter(c, 0), name_of_parameter(c, 1));
  };
}
template <class F>
Kernel function(F f) {
  return complex_unary<Complex>(f);
}

template <int sign>
Result<Done> add_scaled(KernelContext& c) {
  const double alpha = sign * number(c.call.scalar("alpha"), complex_common(c));
  return complexes<Complex>(
      c, [=](Complex a, Complex b) { return a + alpha * b; }, "self", "other");
}

Result<Done> subtract_scaled_from(KernelContext& c) {
  const double alpha = number(c.call.scalar("alpha"), complex_common(c));
  return complexes<Complex>(
      c, [=](Complex a, Complex b) { return b - alpha * a; }, "self", "other");
}

Result<Done> complex_quotient(KernelContext& c) {
  const bool rounds = c.call.op().parameter("rounding_mode") && c.call.given("rounding_mode");
  if (rounds) return error("complex numbers have no rounded quotient");
  return complexes<Complex>(c, divided, "self", "other");
}

// x^e. PyTorch computes these exponents by products and roots.
Complex complex_power(Complex base, Complex exponent) {
  if (exponent == Complex(0)) return 1;
  if (exponent == Complex(1)) return base;
  if (exponent == Complex(2)) return times(base, base);
  if (exponent == Complex(3)) return times(times(base, base), base);
  if (exponent == Complex(0.5)) return std::sqrt(base);
  if (exponent == Complex(-1)) return divided(1, base);
  if (exponent == Complex(-2)) return divided(1, times(base, base));
  if (base == Complex(0) && exponent.real() > 0) return 0;
  return std::pow(base, exponent);
}

Result<Done> complex_float_power(KernelContext& c) {
  return apply<Complex, Complex>(c, DType::c128, Numbers::arithmetic, complex_power, "self",
                                 "exponent");
}

Result<Done> complex_addcmul(KernelContext& c) {
  const double value = number(c.call.scalar("value"), complex_common(c));
  return complexes<Complex>(
      c, [=](Complex self, Complex a, Complex b) { return self + value * times(a, b); }, "self",
      "tensor1", "tensor2");
}

Result<Done> complex_addcdiv(KernelContext& c) {
  const double value = number(c.call.scalar("value"), complex_common(c));
  return complexes<Complex>(
      c, [=](Complex self, Complex a, Complex b) { return self + value * divided(a, b); }, "self",
      "tensor1", "tensor2");
}

Complex complex_sigmoid(Complex x) { return divided(1, 1.0 + std::exp(-x)); }
Complex complex_silu(Complex x) { return divided(x, 1.0 + std::exp(-x)); }
Complex complex_sigmoid_gradient(Complex g, Complex y) {
  return times(g, std::conj(times(1.0 - y, y)));
}
Complex complex_tanh_gradient(Complex g, Complex y) {
  return times(g, std::conj(1.0 - times(y, y)));
}

// (exp(x) - 1) cos(y) + (cos(y) - 1) + i exp(x) sin(y): nothing cancels near 0.
Complex complex_expm1(Complex z) {
  const double x = z.real(), y = z.imag(), half = std::sin(y / 2);
  const double im = y == 0 ? y : std::exp(x) * std::sin(y);
  return {std::expm1(x) * std::cos(y) - 2 * half * half, im};
}

// Near 0 by |1 + z|^2 = 1 + r.
Complex complex_log1p(Complex z) {
  const double x = z.real(), y = z.imag(), angle = std::atan2(y, x + 1);
  if (!(std::abs(z) < 0.5)) return {std::log(std::hypot(x + 1, y)), angle};
  const double r = x * (2 + x) + y * y;
  return {r == 0 ? x : std::log1p(r) / 2, angle};
}

Complex complex_sinc(Complex z) {
  if (z == Complex()) return 1;
  return divided(std::sin(kPi * z), kPi * z);
}

bool is_nan(Complex x) { return std::isnan(x.real()) || std::isnan(x.imag()); }
bool is_infinite(Complex x) { return std::isinf(x.real()) || std::isinf(x.imag()); }
bool is_finite(Complex x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }

void add_complex_sums(KernelTable& table) {
  for (const Op op : {Op::add_Tensor, Op::add_Scalar}) table.add_complex(op, add_scaled<1>);
  for (const Op op : {Op::sub_Tensor, Op::sub_Scalar}) table.add_complex(op, add_scaled<-1>);
  for (const Op op : {Op::rsub_Tensor, Op::rsub_Scalar})
    table.add_complex(op, subtract_scaled_from);
  const Kernel product = complex_binary<Complex>([](Complex a, Complex b) { return times(a, b); });
  for (const Op op : {Op::mul_Tensor, Op::mul_Scalar, Op::prims_mul})
    table.add_complex(op, product);
  for (const Op op : {Op::div_Tensor, Op::div_Scalar, Op::div_Tensor_mode, Op::div_Scalar_mode})
    table.add_complex(op, complex_quotient);
  table.add_complex(Op::prims_add,
                    complex_binary<Complex>([](Complex a, Complex b) { return a + b; }));
  table.add_complex(Op::prims_sub,
                    complex_binary<Complex>([](Complex a, Complex b) { return a - b; }));
  table.add_complex(Op::prims_div,
                    complex_binary<Complex>([](Complex a, Complex b) { return divided(a, b); }));
  table.add_complex(Op::addcmul, complex_addcmul);
  table.add_complex(Op::addcdiv, complex_addcdiv);
}

void add_complex_signs(KernelTable& table) {
  table.add_complex(Op::neg, function([](Complex x) { return -x; }));
  table.add_complex(Op::positive, function([](Complex x) { return x; }));
  table.add_complex(Op::sgn, function([](Complex x) { return sign_of(x); }));
  table.add_complex(Op::square, function([](Complex x) { return times(x, x); }));
  table.add_complex(Op::abs, complex_unary<double>([](Complex x) { return std::abs(x); }));
  table.add_complex(Op::angle, complex_unary<double>([](Complex x) { return std::arg(x); }));
}

void add_complex_exponentials(KernelTable& table) {
  table.add_complex(Op::exp, function([](Complex x) { return std::exp(x); }));
  table.add_complex(Op::exp2, function([](Complex x) { return std::exp(kLogOf2 * x); }));
  table.add_complex(Op::log, function([](Complex x) { return std::log(x); }));
  table.add_complex(Op::log2, function([](Complex x) { return std::log(x) / kLogOf2; }));
  table.add_complex(Op::log10, function([](Complex x) { return std::log10(x); }));
  table.add_complex(Op::sqrt, function([](Complex x) { return std::sqrt(x); }));
  table.add_complex(Op::rsqrt, function([](Complex x) { return divided(1, std::sqrt(x)); }));
  table.add_complex(Op::reciprocal, function([](Complex x) { return divided(1, x); }));
  table.add_complex(Op::sigmoid, function([](Complex x) { return complex_sigmoid(x); }));
  table.add_complex(Op::silu, function([](Complex x) { return complex_silu(x); }));
  table.add_complex(Op::expm1, function([](Complex x) { return complex_expm1(x); }));
  table.add_complex(Op::log1p, function([](Complex x) { return complex_log1p(x); }));
  table.add_complex(Op::sigmoid_backward, complex_binary<Complex>([](Complex g, Complex y) {
                      return complex_sigmoid_gradient(g, y);
                    }));
  table.add_complex(Op::tanh_backward, complex_binary<Complex>([](Complex g, Complex y) {
                      return complex_tanh_gradient(g, y);
                    }));
  const Kernel power =
      complex_binary<Complex>([](Complex a, Complex b) { return complex_power(a, b); });
  for (const Op op : {Op::pow_Tensor_Tensor, Op::pow_Tensor_Scalar, Op::pow_Scalar})
    table.add_complex(op, power);
  for (const Op op :
       {Op::float_power_Tensor_Tensor, Op::float_power_Tensor_Scalar, Op::float_power_Scalar})
    table.add_complex(op, complex_float_power);
}

void add_complex_trigonometry(KernelTable& table) {
  table.add_complex(Op::sin, function([](Complex x) { return std::sin(x); }));
  table.add_complex(Op::cos, function([](Complex x) { return std::cos(x); }));
  table.add_complex(Op::tan, function([](Complex x) { return std::tan(x); }));
  table.add_complex(Op::asin, function([](Complex x) { return std::asin(x); }));
  table.add_complex(Op::acos, function([](Complex x) { return std::acos(x); }));
  table.add_complex(Op::atan, function([](Complex x) { return std::atan(x); }));
  table.add_complex(Op::sinc, function([](Complex x) { return complex_sinc(x); }));
  table.add_complex(Op::sinh, function([](Complex x) { return std::sinh(x); }));
  table.add_complex(Op::cosh, function([](Complex x) { return std::cosh(x); }));
  table.add_complex(Op::tanh, function([](Complex x) { return std::tanh(x); }));
  table.add_complex(Op::asinh, function([](Complex x) { return std::asinh(x); }));
  table.add_complex(Op::acosh, function([](Complex x) { return std::acosh(x); }));
  table.add_complex(Op::atanh, function([](Complex x) { return std::atanh(x); }));
}

void add_complex_predicates(KernelTable& table) {
  using Truth = std::int64_t;
  const Kernel equal = complex_binary<Truth>([](Complex a, Complex b) { return a == b; });
  const Kernel unequal = complex_binary<Truth>([](Complex a, Complex b) { return a != b; });
  for (const Op op : {Op::eq_Tensor, Op::eq_Scalar}) table.add_complex(op, equal);
  for (const Op op : {Op::ne_Tensor, Op::ne_Scalar}) table.add_complex(op, unequal);
  table.add_complex(Op::logical_not,
                    complex_unary<Truth>([](Complex x) { return x == Complex(); }));
  table.add_complex(Op::isnan, complex_unary<Truth>([](Complex x) { return is_nan(x); }));
  table.add_complex(Op::isinf, complex_unary<Truth>([](Complex x) { return is_infinite(x); }));
  table.add_complex(Op::isfinite, complex_unary<Truth>([](Complex x) { return is_finite(x); }));
}

}  // namespace

void add_complex_pointwise_kernels(KernelTable& table) {
  add_complex_sums(table);
  add_complex_signs(table);
  add_complex_exponentials(table);
  add_complex_trigonometry(table);
  add_complex_predicates(table);
}

}  // namespace recut

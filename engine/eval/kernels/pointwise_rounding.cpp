// Signs, magnitudes, rounding, and operations on the representation of a number (nextafter, frexp).
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/pointwise.h"
#include "engine/support/constants.h"

namespace recut {
namespace {

using namespace elementwise;

// Rounding leaves integers alone.
template <double (*f)(double)>
Result<Done> rounded(KernelContext& c) {
  return arithmetic(
      c,
      [](auto x) {
        if constexpr (std::is_same_v<decltype(x), double>)
          return f(x);
        else
          return x;
      },
      "self");
}

double floor(double x) { return std::floor(x); }
double ceil(double x) { return std::ceil(x); }
double trunc(double x) { return std::trunc(x); }
double to_even(double x) { return std::nearbyint(x); }
double fraction(double x) { return x - std::trunc(x); }

// Each step rounded to the dtype, as ATen's are: a scaled value on the edge between two integers
// goes where its rounding puts it.
Result<Done> round_decimals(KernelContext& c) {
  const DType dtype = c.output_types[0].dtype;
  const std::int64_t decimals = c.call.integer("decimals");
  if (!is_floating(dtype)) return rounded<to_even>(c);
  const double magnitude = static_cast<double>(decimals < 0 ? -(decimals + 1) : decimals);
  const double ten = round_to(dtype, std::pow(10.0, magnitude + (decimals < 0 ? 1 : 0)));
  return reals(
      c,
      [=](double x) {
        if (decimals < 0) return std::nearbyint(round_to(dtype, x / ten)) * ten;
        return std::nearbyint(round_to(dtype, x * ten)) / ten;
      },
      "self");
}

template <class T>
T sign(T x) {
  return static_cast<T>((x > 0) - (x < 0));
}

double magnitude(double x) { return std::abs(x); }
std::int64_t magnitude(std::int64_t x) { return x < 0 ? minus(std::int64_t{0}, x) : x; }

double largest(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 65504;
    case DType::bf16:
      return 0x1.fep127;
    case DType::f32:
      return 0x1.fffffep127;
    default:
      return 0x1.fffffffffffffp1023;
  }
}

Result<Done> nan_to_num(KernelContext& c) {
  const double max_value = largest(c.output_types[0].dtype);
  const auto given = [&](std::string_view parameter, double otherwise) {
    return c.call.given(parameter) ? c.call.real(parameter) : otherwise;
  };
  const double nan = given("nan", 0);
  const double above = given("posinf", max_value);
  const double below = given("neginf", -max_value);
  if (!is_floating(c.output_types[0].dtype)) return rounded<to_even>(c);
  return reals(
      c,
      [=](double x) {
        if (std::isnan(x)) return nan;
        if (std::isinf(x)) return x > 0 ? above : below;
        return x;
      },
      "self");
}

// The number next to x towards `target` in a format of `mantissa_bits` and a smallest exponent
// `min_exponent`.
double next_after(double x, double target, int mantissa_bits, int min_exponent) {
  if (std::isnan(x) || std::isnan(target)) return std::nan("");
  if (x == target) return target;
  const double smallest = std::ldexp(1.0, min_exponent - mantissa_bits);
  if (x == 0) return std::copysign(smallest, target);
  if (std::isinf(x))
    return std::copysign(std::ldexp(2 - std::ldexp(1.0, -mantissa_bits), 1 - min_exponent), x);
  const double size = std::abs(x);
  const bool outwards = (target > x) == (x > 0);
  int exponent = std::max(std::ilogb(size), min_exponent);
  // Below a power of two, the numbers stand twice as close.
  if (!outwards && exponent > min_exponent && size == std::ldexp(1.0, exponent)) --exponent;
  const double step = std::ldexp(1.0, exponent - mantissa_bits);
  return std::copysign(outwards ? size + step : size - step, x);
}

Result<Done> nextafter(KernelContext& c) {
  const DType dtype = c.output_types[0].dtype;
  return reals(
      c,
      [=](double x, double target) {
        if (dtype == DType::f64) return std::nextafter(x, target);
        if (dtype == DType::f16) return next_after(x, target, 10, -14);
        return next_after(x, target, dtype == DType::bf16 ? 7 : 23, -126);
      },
      "self", "other");
}

// A non-finite number is its own mantissa, with exponent 0 (unspecified in std::frexp).
Result<Done> frexp(KernelContext& c) {
  const Reals self = c.reals("self");
  Integers exponents(self.shape);
  Reals mantissas(self.shape);
  for (std::int64_t i = 0; i < self.count(); ++i) {
    int exponent = 0;
    mantissas[i] = std::isfinite(self[i]) ? std::frexp(self[i], &exponent) : self[i];
    exponents[i] = exponent;
  }
  c.write(mantissas, 0);
  c.write(exponents, 1);
  return Done{};
}

double angle(double x) { return std::isnan(x) ? x : (x < 0 ? kPi : 0.0); }

}  // namespace

void add_rounding_kernels(KernelTable& table) {
  table.add(Op::floor, rounded<floor>);
  table.add(Op::ceil, rounded<ceil>);
  table.add(Op::trunc, rounded<trunc>);
  table.add(Op::fix, rounded<trunc>);
  table.add(Op::round, rounded<to_even>);
  table.add(Op::frac, rounded<fraction>);
  table.add(Op::round_decimals, round_decimals);
  table.add(Op::abs, unary([](auto x) { return magnitude(x); }));
  table.add(Op::neg, unary([](auto x) {
              if constexpr (std::is_same_v<decltype(x), double>)
                return -x;
              else
                return minus(std::int64_t{0}, x);
            }));
  table.add(Op::positive, unary([](auto x) { return x; }));
  for (const Op op : {Op::sign, Op::sgn}) table.add(op, unary([](auto x) { return sign(x); }));
  table.add(Op::nan_to_num, nan_to_num);
  table.add(Op::nextafter, nextafter);
  table.add(Op::frexp_Tensor, frexp);
  const Kernel copysign = binary_real([](double a, double b) { return std::copysign(a, b); });
  for (const Op op : {Op::copysign_Tensor, Op::copysign_Scalar}) table.add(op, copysign);
  table.add(Op::angle, unary_real([](double x) { return angle(x); }));
  table.add(Op::deg2rad, unary_real([](double x) { return x * (kPi / 180); }));
  table.add(Op::rad2deg, unary_real([](double x) { return x * (180 / kPi); }));
}

}  // namespace recut

// Powers, of real numbers and of integers.
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/pointwise.h"

namespace recut {
namespace {

using namespace elementwise;

double power(double base, double exponent) { return std::pow(base, exponent); }

// Integer powers by squaring, wrapping around. A negative power of an integer is the truncated
// fraction.
std::int64_t power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  std::int64_t result = 1;
  for (; exponent != 0; exponent /= 2) {
    if (exponent % 2 != 0) result = times(result, base);
    base = times(base, base);
  }
  return result;
}

constexpr auto kPower = [](auto a, auto b) { return power(a, b); };

// ATen computes these three exponents by other functions, which treat -0 and -inf otherwise.
Result<Done> power_of_number(KernelContext& c) {
  const double exponent = c.call.scalar("exponent").real;
  if (is_floating(result_dtype(c.call))) {
    if (exponent == 0.5)
      return reals(
          c, [](double x) { return std::sqrt(x); }, "self");
    if (exponent == -0.5)
      return reals(
          c, [](double x) { return 1 / std::sqrt(x); }, "self");
    if (exponent == -1)
      return reals(
          c, [](double x) { return 1 / x; }, "self");
  }
  return arithmetic(c, kPower, "self", "exponent");
}

Result<Done> float_power(KernelContext& c) {
  const auto f = [](double a, double b) { return std::pow(a, b); };
  return apply<double, double>(c, DType::f64, Numbers::arithmetic, f, "self", "exponent");
}

Result<Done> ldexp(KernelContext& c) {
  const auto f = [](double x, double exponent) { return x * std::exp2(exponent); };
  return reals(c, f, "self", "other");
}

}  // namespace

void add_power_kernels(KernelTable& table) {
  table.add(Op::pow_Tensor_Tensor, binary(kPower));
  table.add(Op::pow_Scalar, binary(kPower));
  table.add(Op::pow_Tensor_Scalar, power_of_number);
  table.add(Op::square, unary([](auto x) { return times(x, x); }));
  for (const Op op :
       {Op::float_power_Tensor_Tensor, Op::float_power_Tensor_Scalar, Op::float_power_Scalar})
    table.add(op, float_power);
  table.add(Op::ldexp_Tensor, ldexp);
}

}  // namespace recut

// Sums, products, quotients and remainders.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/pointwise.h"

namespace recut {
namespace {

using namespace elementwise;

// self + sign * alpha * other. alpha is read as real or integer, whichever the computation uses.
template <int sign>
Result<Done> add(KernelContext& c) {
  const Scalar alpha = c.call.scalar("alpha");
  const double real = sign * number(alpha, result_dtype(c.call));
  const std::int64_t integer = times(std::int64_t{sign}, alpha.integer);
  return arithmetic(
      c,
      [=](auto a, auto b) {
        if constexpr (std::is_same_v<decltype(a), double>)
          return a + real * b;
        else
          return plus(a, times(integer, b));
      },
      "self", "other");
}

Result<Done> subtract_from(KernelContext& c) {
  const Scalar alpha = c.call.scalar("alpha");
  const double real = number(alpha, result_dtype(c.call));
  return arithmetic(
      c,
      [=](auto a, auto b) {
        if constexpr (std::is_same_v<decltype(a), double>)
          return b - real * a;
        else
          return minus(b, times(alpha.integer, a));
      },
      "self", "other");
}

// Python's floor division, as ATen computes it from fmod: the quotient of a - fmod(a, b) is whole
// but for rounding.
double floor_quotient(double a, double b) {
  if (b == 0) return a / b;
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

// Integer quotients; b is not 0. The one quotient that does not fit, of the most negative number by
// -1, wraps.
std::int64_t trunc_quotient(std::int64_t a, std::int64_t b) {
  return b == -1 ? minus(std::int64_t{0}, a) : a / b;
}
std::int64_t trunc_rest(std::int64_t a, std::int64_t b) { return b == -1 ? 0 : a % b; }

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t rest = trunc_rest(a, b);
  return trunc_quotient(a, b) - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
}

double trunc_quotient(double a, double b) { return std::trunc(a / b); }
double trunc_rest(double a, double b) { return std::fmod(a, b); }

double floor_rest(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
}
std::int64_t floor_rest(std::int64_t a, std::int64_t b) {
  const std::int64_t rest = trunc_rest(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// Kernels of the four; integers can't be divided by zero.
template <class F>
Result<Done> divide_integers_safely(KernelContext& c, F f) {
  const std::string_view divisor = name_of_parameter(c, 1);
  const DType common = result_dtype(c.call);
  if (!is_floating(common) && c.output_types[0].shape != Shape{0}) {
    const Integers divisors = operand<std::int64_t>(c, divisor, common);
    const bool zero =
        std::find(divisors.data.begin(), divisors.data.end(), 0) != divisors.data.end();
    if (zero && element_count(c.output_types[0].shape) > 0)
      return error("an integer is divided by zero");
  }
  return arithmetic(c, f, name_of_parameter(c, 0), divisor);
}

Result<Done> divide_floor(KernelContext& c) {
  return divide_integers_safely(c, [](auto a, auto b) { return floor_quotient(a, b); });
}
Result<Done> divide_trunc(KernelContext& c) {
  return divide_integers_safely(c, [](auto a, auto b) { return trunc_quotient(a, b); });
}
Result<Done> remainder(KernelContext& c) {
  return divide_integers_safely(c, [](auto a, auto b) { return floor_rest(a, b); });
}
Result<Done> fmod(KernelContext& c) {
  return divide_integers_safely(c, [](auto a, auto b) { return trunc_rest(a, b); });
}

Result<Done> divide(KernelContext& c) {
  return reals(
      c, [](double a, double b) { return a / b; }, "self", "other");
}

Result<Done> divide_rounded(KernelContext& c) {
  const std::string_view mode = c.call.text("rounding_mode");
  if (mode == "floor") return divide_floor(c);
  return mode == "trunc" ? divide_trunc(c) : divide(c);
}

// prims.div has no true division of integers.
Result<Done> divide_prims(KernelContext& c) {
  return is_floating(result_dtype(c.call)) ? divide(c) : divide_trunc(c);
}

Result<Done> addcmul(KernelContext& c) {
  const Scalar value = c.call.scalar("value");
  const double real = number(value, result_dtype(c.call));
  return arithmetic(
      c,
      [=](auto self, auto a, auto b) {
        if constexpr (std::is_same_v<decltype(a), double>)
          return self + real * a * b;
        else
          return plus(self, times(value.integer, times(a, b)));
      },
      "self", "tensor1", "tensor2");
}

Result<Done> addcdiv(KernelContext& c) {
  const double value = number(c.call.scalar("value"), result_dtype(c.call));
  return reals(
      c, [=](double self, double a, double b) { return self + value * a / b; }, "self", "tensor1",
      "tensor2");
}

Result<Done> fma(KernelContext& c) {
  return arithmetic(
      c, [](auto a, auto b, auto addend) { return plus(times(a, b), addend); }, "self", "other",
      "addend");
}

// Exact at both ends: from `end` backwards in the upper half.
Result<Done> lerp(KernelContext& c) {
  const auto between = [](double from, double to, double weight) {
    const double difference = to - from;
    return weight < 0.5 ? from + weight * difference : to - difference * (1 - weight);
  };
  const DType common = c.output_types[0].dtype;
  return apply<double, double>(c, common, Numbers::arithmetic, between, "self", "end", "weight");
}

// std::gcd takes no most negative numbers.
std::int64_t gcd(std::int64_t a, std::int64_t b) {
  const auto magnitude = [](std::int64_t x) {
    return x < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
  };
  return static_cast<std::int64_t>(std::gcd(magnitude(a), magnitude(b)));
}

std::int64_t lcm(std::int64_t a, std::int64_t b) {
  const std::int64_t divisor = gcd(a, b);
  if (divisor == 0) return 0;
  const std::int64_t multiple = times(trunc_quotient(a, divisor), b);
  return multiple < 0 ? minus(std::int64_t{0}, multiple) : multiple;
}

template <std::int64_t (*f)(std::int64_t, std::int64_t)>
Result<Done> of_integers(KernelContext& c) {
  return apply<std::int64_t, std::int64_t>(c, result_dtype(c.call), Numbers::arithmetic, f, "self",
                                           "other");
}

}  // namespace

void add_arithmetic_kernels(KernelTable& table) {
  const Kernel sum = binary([](auto a, auto b) { return plus(a, b); });
  const Kernel product = binary([](auto a, auto b) { return times(a, b); });
  for (const Op op : {Op::add_Tensor, Op::add_Scalar}) table.add(op, add<1>);
  for (const Op op : {Op::sub_Tensor, Op::sub_Scalar}) table.add(op, add<-1>);
  for (const Op op : {Op::rsub_Tensor, Op::rsub_Scalar}) table.add(op, subtract_from);
  for (const Op op : {Op::mul_Tensor, Op::mul_Scalar, Op::prims_mul}) table.add(op, product);
  for (const Op op : {Op::div_Tensor, Op::div_Scalar}) table.add(op, divide);
  for (const Op op : {Op::div_Tensor_mode, Op::div_Scalar_mode}) table.add(op, divide_rounded);
  for (const Op op : {Op::floor_divide, Op::floor_divide_Scalar}) table.add(op, divide_floor);
  for (const Op op : {Op::remainder_Tensor, Op::remainder_Scalar, Op::remainder_Scalar_Tensor})
    table.add(op, remainder);
  for (const Op op : {Op::fmod_Tensor, Op::fmod_Scalar}) table.add(op, fmod);
  table.add(Op::prims_add, sum);
  table.add(Op::prims_sub, binary([](auto a, auto b) { return minus(a, b); }));
  table.add(Op::prims_div, divide_prims);
  table.add(Op::prims_fma, fma);
  table.add(Op::addcmul, addcmul);
  table.add(Op::addcdiv, addcdiv);
  for (const Op op : {Op::lerp_Scalar, Op::lerp_Tensor}) table.add(op, lerp);
  table.add(Op::gcd, of_integers<gcd>);
  table.add(Op::lcm, of_integers<lcm>);
}

}  // namespace recut

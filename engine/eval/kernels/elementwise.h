// The frame of element-wise kernels: operands are cast to the computation dtype and broadcast to
// the output's shape, a function is applied to each element, and results are rounded to the
// output's dtype.
//
// Real and complex functions compute in double. ATen computes in the tensors' dtype (f16 and bf16 in
// float) and rounds as often as it has steps. One rounding at the end differs from that by less than
// a unit in the last place, and only where ATen itself differs from one device to the next.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "engine/eval/kernel.h"
#include "engine/ir/promotion.h"

namespace recut::elementwise {

// The dtype that a Python number is rounded to beside f16 and bf16 tensors: ATen's arithmetic uses
// float, its comparisons the tensor's dtype.
enum class Numbers : std::uint8_t { arithmetic, comparison };

// A parameter's values cast to `common`, as ATen casts operands before it computes.
template <class T>
Dense<T> operand(const KernelContext& context, std::string_view parameter, DType common,
                 Numbers numbers = Numbers::arithmetic);

// A number rounded to the computation dtype.
double number(const Scalar& scalar, DType common);

// The values repeated along broadcast dimensions.
template <class T>
Dense<T> broadcast_to(Dense<T> values, const Shape& shape);

// Applies f element by element to operands of one shape.
template <class R, class F, class First, class... Rest>
Dense<R> map(F f, const Dense<First>& first, const Dense<Rest>&... rest) {
  Dense<R> out;
  out.shape = first.shape;
  out.data.reserve(first.data.size());
  for (std::int64_t i = 0; i < first.count(); ++i)
    out.data.push_back(static_cast<R>(f(first[i], rest[i]...)));
  return out;
}

// Applies f to the named parameters, read as T and cast to `common`, and writes output 0 as R.
template <class T, class R, class F, class... Names>
Done apply(KernelContext& context, DType common, Numbers numbers, F f, Names... names) {
  const Shape& shape = context.output_types[0].shape;
  context.write(map<R>(
      f, broadcast_to(operand<T>(context, std::string_view(names), common, numbers), shape)...));
  return Done{};
}

// A function of real numbers; integers become f32 first.
template <class F, class... Names>
Done reals(KernelContext& context, F f, Names... names) {
  const DType common = float_of(result_dtype(context.call));
  return apply<double, double>(context, common, Numbers::arithmetic, f, names...);
}

// A function of reals or integers: f takes doubles or std::int64_ts.
template <class F, class... Names>
Done arithmetic(KernelContext& context, F f, Names... names) {
  const DType common = result_dtype(context.call);
  if (is_floating(common))
    return apply<double, double>(context, common, Numbers::arithmetic, f, names...);
  return apply<std::int64_t, std::int64_t>(context, common, Numbers::arithmetic, f, names...);
}

// A predicate of reals or integers.
template <class F, class... Names>
Done predicate(KernelContext& context, F f, Names... names) {
  const DType common = result_dtype(context.call);
  if (is_floating(common))
    return apply<double, std::int64_t>(context, common, Numbers::comparison, f, names...);
  return apply<std::int64_t, std::int64_t>(context, common, Numbers::comparison, f, names...);
}

inline std::string_view name_of_parameter(const KernelContext& context, std::size_t index) {
  return context.call.op().parameters[index].name;
}

// Kernels from plain functions, for operators whose operands are their first one or two parameters.
// F has no state: a lambda without captures.
template <class F>
Kernel unary_real(F) {
  return [](KernelContext& c) -> Result<Done> { return reals(c, F{}, name_of_parameter(c, 0)); };
}
template <class F>
Kernel binary_real(F) {
  return [](KernelContext& c) -> Result<Done> {
    return reals(c, F{}, name_of_parameter(c, 0), name_of_parameter(c, 1));
  };
}
template <class F>
Kernel unary(F) {
  return
      [](KernelContext& c) -> Result<Done> { return arithmetic(c, F{}, name_of_parameter(c, 0)); };
}
template <class F>
Kernel binary(F) {
  return [](KernelContext& c) -> Result<Done> {
    return arithmetic(c, F{}, name_of_parameter(c, 0), name_of_parameter(c, 1));
  };
}
template <class F>
Kernel unary_predicate(F) {
  return
      [](KernelContext& c) -> Result<Done> { return predicate(c, F{}, name_of_parameter(c, 0)); };
}
template <class F>
Kernel binary_predicate(F) {
  return [](KernelContext& c) -> Result<Done> {
    return predicate(c, F{}, name_of_parameter(c, 0), name_of_parameter(c, 1));
  };
}

// Integer arithmetic wraps around, as the hardware's does.
inline std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t minus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
inline std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
inline double plus(double a, double b) { return a + b; }
inline double minus(double a, double b) { return a - b; }
inline double times(double a, double b) { return a * b; }

// PyTorch's product of complex numbers: the formula alone, without C's care for infinities.
inline Complex plus(Complex a, Complex b) { return a + b; }
inline Complex minus(Complex a, Complex b) { return a - b; }
inline Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// The larger and the smaller of two; NaN if either is.
inline double larger(double a, double b) { return a != a || a > b ? a : b; }
inline double smaller(double a, double b) { return a != a || a < b ? a : b; }
inline std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
inline std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

}  // namespace recut::elementwise

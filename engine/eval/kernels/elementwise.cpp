#include "engine/eval/kernels/elementwise.h"

namespace recut::elementwise {
namespace {

DType number_dtype(DType common, Numbers numbers) {
  const bool half = common == DType::f16 || common == DType::bf16;
  return half && numbers == Numbers::arithmetic ? DType::f32 : real_of(common);
}

void cast(Reals& values, DType dtype) {
  if (dtype == DType::f64) return;
  for (double& x : values.data) x = round_to(dtype, x);
}

void cast(Complexes& values, DType dtype) {
  const DType part = real_of(dtype);
  for (Complex& x : values.data) x = {round_to(part, x.real()), round_to(part, x.imag())};
}

void cast(Integers& values, DType dtype) {
  for (std::int64_t& x : values.data) x = wrap_to(dtype, x);
}

}  // namespace

template <class T>
Dense<T> operand(const KernelContext& context, std::string_view parameter, DType common,
                 Numbers numbers) {
  Dense<T> values = context.read<T>(parameter);
  if (!context.call.is_tensor(parameter))
    cast(values, number_dtype(common, numbers));
  else if (context.tensor(parameter).dtype != common)
    cast(values, common);
  return values;
}

double number(const Scalar& scalar, DType common) {
  return round_to(number_dtype(common, Numbers::arithmetic), scalar.real);
}

template <class T>
Dense<T> broadcast_to(Dense<T> values, const Shape& shape) {
  if (values.shape == shape) return values;
  Dense<T> out(shape);
  // Steps through `values` by dimension of `shape`: none along broadcast dimensions.
  const Strides own = contiguous_strides(values.shape);
  Strides steps(shape.size(), 0);
  for (std::size_t i = 0; i < own.size(); ++i)
    if (values.shape[i] != 1) steps[shape.size() - own.size() + i] = own[i];
  std::vector<std::int64_t> at(shape.size(), 0);
  std::int64_t source = 0;
  for (std::int64_t i = 0; i < out.count(); ++i) {
    out[i] = values[source];
    for (std::size_t d = shape.size(); d-- > 0;) {
      source += steps[d];
      if (++at[d] < shape[d]) break;
      source -= steps[d] * shape[d];
      at[d] = 0;
    }
  }
  return out;
}

template Reals operand(const KernelContext&, std::string_view, DType, Numbers);
template Integers operand(const KernelContext&, std::string_view, DType, Numbers);
template Complexes operand(const KernelContext&, std::string_view, DType, Numbers);
template Reals broadcast_to(Reals, const Shape&);
template Integers broadcast_to(Integers, const Shape&);
template Complexes broadcast_to(Complexes, const Shape&);

}  // namespace recut::elementwise

// Element conversion between storages and the doubles, 64-bit integers or complex numbers that
// kernels compute on.
#include "engine/eval/tensor.h"

#include <cmath>
#include <cstring>

#include "engine/eval/small_float.h"
#include "engine/support/check.h"

namespace recut {
namespace {

template <class Stored>
Stored load(const std::byte* at) {
  Stored value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class Stored>
void store(std::byte* at, Stored value) {
  std::memcpy(at, &value, sizeof value);
}

// Converts like x86-64: NaN and out-of-range values give the most negative number.
std::int64_t truncate(double value) {
  if (!(value > -9.2233720368547758e18 && value < 9.2233720368547758e18)) return INT64_MIN;
  return static_cast<std::int64_t>(value);
}

template <class T>
T load_element(DType dtype, const std::byte* at) {
  const auto real = [](double x) {
    if constexpr (std::is_same_v<T, std::int64_t>)
      return truncate(x);
    else
      return T(x);
  };
  const auto complex = [&](double re, double im) {
    if constexpr (std::is_same_v<T, Complex>)
      return Complex(re, im);
    else
      return real(re);
  };
  const auto integer = [&](std::int64_t x) {
    if constexpr (std::is_same_v<T, std::int64_t>)
      return x;
    else
      return T(static_cast<double>(x));
  };
  switch (dtype) {
    case DType::f64:
      return real(load<double>(at));
    case DType::f32:
      return real(load<float>(at));
    case DType::f16:
    case DType::bf16:
      return real(from_small_float(load<std::uint16_t>(at), dtype));
    case DType::f8e4m3fn:
    case DType::f8e5m2:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2fnuz:
      return real(from_small_float(load<std::uint8_t>(at), dtype));
    case DType::c128:
      return complex(load<double>(at), load<double>(at + sizeof(double)));
    case DType::c64:
      return complex(load<float>(at), load<float>(at + sizeof(float)));
    case DType::i64:
      return integer(load<std::int64_t>(at));
    case DType::i32:
      return integer(load<std::int32_t>(at));
    case DType::i16:
      return integer(load<std::int16_t>(at));
    case DType::i8:
      return integer(load<std::int8_t>(at));
    case DType::u8:
      return integer(load<std::uint8_t>(at));
    case DType::boolean:
      return integer(load<std::uint8_t>(at) != 0 ? 1 : 0);
    default:
      break;
  }
  RECUT_CHECK(false, "an absent tensor has no values");
}

double real_part(double value) { return value; }
double real_part(std::int64_t value) { return static_cast<double>(value); }
double real_part(Complex value) { return value.real(); }
double imaginary_part(double) { return 0; }
double imaginary_part(std::int64_t) { return 0; }
double imaginary_part(Complex value) { return value.imag(); }

std::int64_t as_integer(std::int64_t value) { return value; }
template <class T>
std::int64_t as_integer(T value) {
  return truncate(real_part(value));
}

template <class T>
void store_element(DType dtype, std::byte* at, T value) {
  const double real = real_part(value);
  switch (dtype) {
    case DType::f64:
      return store(at, real);
    case DType::f32:
      if constexpr (std::is_same_v<T, std::int64_t>) return store(at, static_cast<float>(value));
      return store(at, static_cast<float>(real));
    case DType::f16:
    case DType::bf16:
      return store(at, static_cast<std::uint16_t>(to_small_float(real, dtype)));
    case DType::f8e4m3fn:
    case DType::f8e5m2:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2fnuz:
      return store(at, static_cast<std::uint8_t>(to_small_float(real, dtype)));
    case DType::c128:
      store(at, real);
      return store(at + sizeof(double), imaginary_part(value));
    case DType::c64:
      store(at, static_cast<float>(real));
      return store(at + sizeof(float), static_cast<float>(imaginary_part(value)));
    case DType::i64:
      return store(at, as_integer(value));
    case DType::i32:
      return store(at, static_cast<std::int32_t>(as_integer(value)));
    case DType::i16:
      return store(at, static_cast<std::int16_t>(as_integer(value)));
    case DType::i8:
      return store(at, static_cast<std::int8_t>(as_integer(value)));
    case DType::u8:
      return store(at, static_cast<std::uint8_t>(as_integer(value)));
    case DType::boolean:
      return store(at, static_cast<std::uint8_t>(value != T{}));
    default:
      break;
  }
  RECUT_CHECK(false, "an absent tensor has no values");
}

// Calls visit(index, element offset) for every element in row-major order.
template <class Visit>
void walk(const Tensor& tensor, Visit&& visit) {
  const std::int64_t count = tensor.count();
  std::vector<std::int64_t> at(tensor.shape.size(), 0);
  std::int64_t offset = tensor.offset;
  for (std::int64_t i = 0; i < count; ++i) {
    visit(i, offset);
    for (std::size_t d = at.size(); d-- > 0;) {
      offset += tensor.strides[d];
      if (++at[d] < tensor.shape[d]) break;
      offset -= tensor.strides[d] * tensor.shape[d];
      at[d] = 0;
    }
  }
}

}  // namespace

Tensor allocate(const TensorType& type, const std::shared_ptr<MemoryMeter>& meter) {
  Tensor tensor{type.dtype, type.shape,
                is_dense(type) ? type.strides : contiguous_strides(type.shape), 0, nullptr};
  tensor.storage = std::make_shared<Storage>(byte_size(type), meter);
  return tensor;
}

template <class T>
Dense<T> unpack(const Tensor& tensor) {
  Dense<T> out;
  out.shape = tensor.shape;
  out.data.resize(static_cast<std::size_t>(tensor.count()));
  const std::int64_t item = item_bytes(tensor.dtype);
  const std::byte* base = tensor.storage->data();
  walk(tensor, [&](std::int64_t i, std::int64_t offset) {
    out[i] = load_element<T>(tensor.dtype, base + offset * item);
  });
  return out;
}

template <class T>
void pack(const Dense<T>& values, Tensor& tensor) {
  RECUT_CHECK(values.count() == tensor.count(),
              "a kernel gave another number of elements than its output has");
  const std::int64_t item = item_bytes(tensor.dtype);
  std::byte* base = tensor.storage->data();
  walk(tensor, [&](std::int64_t i, std::int64_t offset) {
    store_element(tensor.dtype, base + offset * item, values[i]);
  });
}

template Reals unpack<double>(const Tensor&);
template Integers unpack<std::int64_t>(const Tensor&);
template Complexes unpack<Complex>(const Tensor&);
template void pack(const Reals&, Tensor&);
template void pack(const Integers&, Tensor&);
template void pack(const Complexes&, Tensor&);

void copy_tensor(const Tensor& from, Tensor& to) {
  if (is_complex(from.dtype))
    pack(unpack<Complex>(from), to);
  else if (is_floating(from.dtype))
    pack(unpack<double>(from), to);
  else
    pack(unpack<std::int64_t>(from), to);
}

Tensor parts_of(const Tensor& tensor) {
  Tensor parts = tensor;
  parts.dtype = real_of(tensor.dtype);
  for (std::int64_t& stride : parts.strides) stride *= 2;
  parts.offset *= 2;
  parts.shape.push_back(2);
  parts.strides.push_back(1);
  return parts;
}

double round_to(DType dtype, double value) {
  if (dtype == DType::f32) return static_cast<double>(static_cast<float>(value));
  const bool small = is_floating(dtype) && dtype != DType::f64;
  return small ? from_small_float(to_small_float(value, dtype), dtype) : value;
}

std::int64_t wrap_to(DType dtype, std::int64_t value) {
  switch (dtype) {
    case DType::i32:
      return static_cast<std::int32_t>(value);
    case DType::i16:
      return static_cast<std::int16_t>(value);
    case DType::i8:
      return static_cast<std::int8_t>(value);
    case DType::u8:
      return static_cast<std::uint8_t>(value);
    case DType::boolean:
      return value != 0 ? 1 : 0;
    default:
      return value;
  }
}

}  // namespace recut

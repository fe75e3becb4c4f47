// Element conversion between storages and the doubles or 64-bit integers that kernels compute on.
// f16 and bf16 are rounded to nearest even in one step from double: going through float would round
// twice.
#include "engine/eval/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/support/bits.h"
#include "engine/support/check.h"

namespace recut {
namespace {

// Encodes a double as IEEE half or bfloat16, rounded to nearest even.
std::uint64_t to_small_float(double value, int exponent_bits, int mantissa_bits) {
  const std::uint64_t bits = bit_cast<std::uint64_t>(value);
  const std::uint64_t sign = (bits >> 63) << (exponent_bits + mantissa_bits);
  const std::uint64_t infinity = ((std::uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
  if (std::isnan(value)) return sign | infinity | (std::uint64_t{1} << (mantissa_bits - 1));
  if (std::isinf(value)) return sign | infinity;
  if (value == 0) return sign;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double magnitude = std::abs(value);
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  // In units of the last place; nearbyint rounds to even, and a carry moves into the exponent by
  // itself.
  const double units = std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent));
  const auto whole = static_cast<std::uint64_t>(units);
  const std::uint64_t encoded =
      (static_cast<std::uint64_t>(exponent + bias - 1) << mantissa_bits) + whole;
  return sign | std::min(encoded, infinity);
}

double from_small_float(std::uint64_t bits, int exponent_bits, int mantissa_bits) {
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << mantissa_bits) - 1);
  const auto exponent =
      static_cast<int>((bits >> mantissa_bits) & ((std::uint64_t{1} << exponent_bits) - 1));
  const bool negative = (bits >> (exponent_bits + mantissa_bits)) & 1;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  double magnitude;
  if (exponent == (1 << exponent_bits) - 1)
    magnitude = mantissa != 0 ? std::nan("") : INFINITY;
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<double>(mantissa), 1 - bias - mantissa_bits);
  else
    magnitude = std::ldexp(static_cast<double>(mantissa | (std::uint64_t{1} << mantissa_bits)),
                           exponent - bias - mantissa_bits);
  return negative ? -magnitude : magnitude;
}

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
    if constexpr (std::is_same_v<T, double>)
      return x;
    else
      return truncate(x);
  };
  switch (dtype) {
    case DType::f64:
      return real(load<double>(at));
    case DType::f32:
      return real(load<float>(at));
    case DType::f16:
      return real(from_small_float(load<std::uint16_t>(at), 5, 10));
    case DType::bf16:
      return real(from_small_float(load<std::uint16_t>(at), 8, 7));
    case DType::i64:
      return static_cast<T>(load<std::int64_t>(at));
    case DType::i32:
      return static_cast<T>(load<std::int32_t>(at));
    case DType::i16:
      return static_cast<T>(load<std::int16_t>(at));
    case DType::i8:
      return static_cast<T>(load<std::int8_t>(at));
    case DType::u8:
      return static_cast<T>(load<std::uint8_t>(at));
    case DType::boolean:
      return static_cast<T>(load<std::uint8_t>(at) != 0);
    default:
      break;
  }
  RECUT_CHECK(false, "an absent tensor has no values");
}

template <class T>
void store_element(DType dtype, std::byte* at, T value) {
  const auto integer = [&] {
    if constexpr (std::is_same_v<T, double>)
      return truncate(value);
    else
      return value;
  };
  const auto real = static_cast<double>(value);
  switch (dtype) {
    case DType::f64:
      return store(at, real);
    case DType::f32:
      return store(at, static_cast<float>(value));
    case DType::f16:
      return store(at, static_cast<std::uint16_t>(to_small_float(real, 5, 10)));
    case DType::bf16:
      return store(at, static_cast<std::uint16_t>(to_small_float(real, 8, 7)));
    case DType::i64:
      return store(at, integer());
    case DType::i32:
      return store(at, static_cast<std::int32_t>(integer()));
    case DType::i16:
      return store(at, static_cast<std::int16_t>(integer()));
    case DType::i8:
      return store(at, static_cast<std::int8_t>(integer()));
    case DType::u8:
      return store(at, static_cast<std::uint8_t>(integer()));
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
template void pack(const Reals&, Tensor&);
template void pack(const Integers&, Tensor&);

void copy_tensor(const Tensor& from, Tensor& to) {
  if (is_floating(from.dtype))
    pack(unpack<double>(from), to);
  else
    pack(unpack<std::int64_t>(from), to);
}

double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::f32:
      return static_cast<double>(static_cast<float>(value));
    case DType::f16:
      return from_small_float(to_small_float(value, 5, 10), 5, 10);
    case DType::bf16:
      return from_small_float(to_small_float(value, 8, 7), 8, 7);
    default:
      return value;
  }
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

#include "engine/codegen/lower/float8.h"

#include <cstdint>

namespace recut::loop {
namespace {

constexpr std::int64_t kF32Mantissa = 23, kF32Bias = 127;
constexpr std::int64_t kMagnitude = 0x7f, kSign = 0x80;
constexpr std::int64_t kF32Infinity = kF32Bias + 128;  // as an exponent
constexpr std::int64_t kF32Nan = 0x7fc00000;

struct Float8 {
  std::int64_t mantissa, bias;
  bool infinities;  // else the largest encodings are numbers, but for NaN
  bool one_nan;     // in the place of the negative zero

  std::int64_t shift() const { return kF32Mantissa - mantissa; }
  // The bits of an f32 with the exponent of the smallest normal number.
  std::int64_t normal() const { return (kF32Bias - bias + 1) << kF32Mantissa; }
};

Float8 float8_of(DType dtype) {
  if (dtype == DType::f8e4m3fn) return {3, 7, false, false};
  if (dtype == DType::f8e4m3fnuz) return {3, 8, false, true};
  if (dtype == DType::f8e5m2fnuz) return {2, 16, false, true};
  return {2, 15, true, false};
}

ScalarExpr whole(const ScalarExpr& like, std::int64_t number) {
  return ScalarExpr::constant(like.builder(), DType::i32, number);
}

}  // namespace

DType buffer_dtype(DType dtype) { return is_float8(dtype) ? DType::u8 : real_of(dtype); }

ScalarExpr decoded_float8(const ScalarExpr& byte, DType dtype) {
  const Float8 format = float8_of(dtype);
  const ScalarExpr bits = byte & whole(byte, kMagnitude);
  const ScalarExpr exponent = shift_right(bits, whole(byte, format.mantissa));
  const ScalarExpr normal = shift_left(bits, whole(byte, format.shift())) +
                            whole(byte, (kF32Bias - format.bias) << kF32Mantissa);
  // Below the normal numbers the bits count the smallest one.
  const double smallest = std::ldexp(1.0, static_cast<int>(1 - format.bias - format.mantissa));
  const ScalarExpr subnormal = (bits.to(DType::f32) * smallest).reinterpreted(DType::i32);
  ScalarExpr value = select(exponent == whole(byte, 0), subnormal, normal);
  if (format.infinities) {
    const std::int64_t infinity = ((std::int64_t{1} << (7 - format.mantissa)) - 1)
                                  << format.mantissa;
    value = select(bits == whole(byte, infinity), whole(byte, kF32Infinity << kF32Mantissa), value);
    value = select(bits > whole(byte, infinity), whole(byte, kF32Nan), value);
  } else if (!format.one_nan) {
    value = select(bits == whole(byte, kMagnitude), whole(byte, kF32Nan), value);
  }
  const ScalarExpr sign = shift_left(byte & whole(byte, kSign), whole(byte, 24));
  value = value | sign;
  if (format.one_nan)
    value = select((byte & whole(byte, kMagnitude | kSign)) == whole(byte, kSign),
                   whole(byte, kF32Nan), value);
  return value.reinterpreted(DType::f32);
}

ScalarExpr encoded_float8(const ScalarExpr& real, DType dtype) {
  const Float8 format = float8_of(dtype);
  const ScalarExpr all = real.to(DType::f32).reinterpreted(DType::i32);
  const ScalarExpr bits = all & whole(all, 0x7fffffff);
  const ScalarExpr sign = shift_right(all, whole(all, 24)) & whole(all, kSign);
  // To the nearest: half a step less one bit is added, and one more where the kept bits are odd.
  const ScalarExpr odd = shift_right(bits, whole(all, format.shift())) & whole(all, 1);
  const std::int64_t half = (std::int64_t{1} << (format.shift() - 1)) - 1;
  const std::int64_t rebias = (kF32Bias - format.bias) << kF32Mantissa;
  const ScalarExpr normal =
      shift_right(bits + whole(all, half - rebias) + odd, whole(all, format.shift()));
  // An addition rounds subnormal numbers: the f32 beside the sum counts in their steps.
  const std::int64_t step = kF32Bias - format.bias + format.shift() + 1;
  const ScalarExpr offset = whole(all, step << kF32Mantissa);
  const ScalarExpr subnormal = (bits.reinterpreted(DType::f32) + offset.reinterpreted(DType::f32))
                                   .reinterpreted(DType::i32) -
                               offset;
  const ScalarExpr encoded = select(bits < whole(all, format.normal()), subnormal, normal);
  if (format.one_nan) {
    const ScalarExpr number = select(encoded == whole(all, 0), encoded, encoded | sign);
    return select(encoded > whole(all, kMagnitude), whole(all, kSign), number);
  }
  if (!format.infinities) return smaller(encoded, whole(all, kMagnitude)) | sign;
  const std::int64_t infinity = ((std::int64_t{1} << (7 - format.mantissa)) - 1) << format.mantissa;
  const ScalarExpr finite = smaller(encoded, whole(all, infinity));
  const ScalarExpr nan = bits > whole(all, kF32Infinity << kF32Mantissa);
  return select(nan, whole(all, kMagnitude), finite) | sign;
}

}  // namespace recut::loop

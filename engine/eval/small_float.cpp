#include "engine/eval/small_float.h"

#include <algorithm>
#include <cmath>

#include "engine/support/bits.h"

namespace recut {
namespace {

// ieee: the largest exponent holds infinities and NaN. fn: finite, NaN is all ones. fnuz: finite,
// and NaN takes the place of the negative zero.
enum class Specials : std::uint8_t { ieee, fn, fnuz };

struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;

  std::uint64_t sign() const { return std::uint64_t{1} << (exponent_bits + mantissa_bits); }
  std::uint64_t infinity() const {
    return ((std::uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
  }
  std::uint64_t nan() const {
    if (specials == Specials::fnuz) return sign();
    // f16 and bf16 have the quiet bit alone, as processors make it; PyTorch fills 8-bit formats.
    const bool eight = exponent_bits + mantissa_bits == 7;
    return eight ? sign() - 1 : infinity() | (std::uint64_t{1} << (mantissa_bits - 1));
  }
  // The first encoding beyond the largest number.
  std::uint64_t beyond() const {
    if (specials == Specials::ieee) return infinity();
    return specials == Specials::fn ? sign() - 1 : sign();
  }
};

SmallFloat format_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {5, 10, 15, Specials::ieee};
    case DType::bf16:
      return {8, 7, 127, Specials::ieee};
    case DType::f8e4m3fn:
      return {4, 3, 7, Specials::fn};
    case DType::f8e4m3fnuz:
      return {4, 3, 8, Specials::fnuz};
    case DType::f8e5m2fnuz:
      return {5, 2, 16, Specials::fnuz};
    default:
      return {5, 2, 15, Specials::ieee};
  }
}

}  // namespace

std::uint64_t to_small_float(double value, DType dtype) {
  const SmallFloat format = format_of(dtype);
  if (is_float8(dtype)) value = static_cast<double>(static_cast<float>(value));
  const bool negative = (bit_cast<std::uint64_t>(value) >> 63) != 0;
  const bool signed_zero = format.specials != Specials::fnuz;
  const std::uint64_t sign = negative ? format.sign() : 0;
  if (std::isnan(value)) return sign | format.nan();
  if (value == 0) return signed_zero ? sign : 0;
  if (std::isinf(value)) return sign | (signed_zero ? format.beyond() : format.nan());
  const double magnitude = std::abs(value);
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias);
  // In units of the last place; nearbyint rounds to even, and a carry moves into the exponent by
  // itself.
  const double units = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  const auto whole = static_cast<std::uint64_t>(units);
  const std::uint64_t encoded =
      (static_cast<std::uint64_t>(exponent + format.bias - 1) << format.mantissa_bits) + whole;
  if (encoded == 0 && !signed_zero) return 0;
  return sign | std::min(encoded, format.beyond());
}

double from_small_float(std::uint64_t bits, DType dtype) {
  const SmallFloat format = format_of(dtype);
  const std::uint64_t magnitude_bits = bits & (format.sign() - 1);
  const bool negative = (bits & format.sign()) != 0;
  const bool special = format.specials == Specials::fnuz ? negative && magnitude_bits == 0
                                                         : magnitude_bits >= format.beyond();
  if (special) {
    const bool infinite = format.specials == Specials::ieee && magnitude_bits == format.infinity();
    const double magnitude = infinite ? INFINITY : std::nan("");
    return negative ? -magnitude : magnitude;
  }
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  const auto exponent = static_cast<int>(magnitude_bits >> format.mantissa_bits);
  const std::uint64_t hidden = exponent != 0 ? std::uint64_t{1} << format.mantissa_bits : 0;
  const double magnitude = std::ldexp(static_cast<double>(mantissa | hidden),
                                      std::max(exponent, 1) - format.bias - format.mantissa_bits);
  return negative ? -magnitude : magnitude;
}

}  // namespace recut

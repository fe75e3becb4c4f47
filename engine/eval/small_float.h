// The formats of reals of 16 and 8 bits: bits to doubles and back.
#pragma once

#include <cstdint>

#include "engine/ir/dtype.h"

namespace recut {

// The bits of a double in f16, bf16 or an 8-bit format, rounded to nearest even. f16 and bf16 are
// rounded in one step: going through float would round twice. PyTorch has no other way into the
// 8-bit formats than through float. A value beyond the largest number gives an infinity, or NaN in
// the formats without infinities.
std::uint64_t to_small_float(double value, DType dtype);

double from_small_float(std::uint64_t bits, DType dtype);

}  // namespace recut

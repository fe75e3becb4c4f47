// Squares of f32 reach beyond f32 where their root doesn't: 1e-30 is 0 when it is squared. f64
// would hold them, but takes half as long again in rows that stand in a cache.
#pragma once

#include "engine/codegen/lower/quantity.h"

namespace recut::loop {

// A power of two that numbers are multiplied by before they are squared, by the mean of their
// magnitudes; 1 but for very small and very large ones, so that others keep their bits. No square
// of up to 2^27 numbers overflows, and no deviation that f32 tells is lost.
struct Magnitude {
  Quantity factor, inverse;

  // f64 is the interpreter's own, and squares as it does.
  static bool counts(DType type) { return type == DType::f32; }

  static Magnitude of(const Quantity& mean) {
    constexpr double kStep = 0x1p50, kFar = 0x1p32, kFarther = 0x1p80;
    const auto power = [&](double step) {
      const Quantity large =
          select(mean > kFarther, mean.like(1 / step / step), mean.like(1 / step));
      const Quantity small = select(mean < 1 / kFarther, mean.like(step * step), mean.like(step));
      return select(mean > kFar, large, select(mean < 1 / kFar, small, mean.like(1)));
    };
    return {power(kStep), power(1 / kStep)};
  }
};

}  // namespace recut::loop

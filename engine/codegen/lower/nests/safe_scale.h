// Squares of f32 underflow or overflow where their root does not: 1e-30 squared is 0. f64 would
// hold them, but takes half as long again for rows in cache. Cf. the scaling in LAPACK's dlassq.
#pragma once

#include "engine/codegen/lower/scalar_expr.h"

namespace recut::loop {

// A power-of-two factor for numbers before they are squared, chosen by the mean of their
// magnitudes. It is 1 except for very small and very large ones, so that others keep their bits. No
// square of up to 2^27 numbers overflows, and no deviation that f32 resolves is lost.
struct SafeScale {
  ScalarExpr factor, inverse;

  // f64 squares as the interpreter does.
  static bool applies_to(DType type) { return type == DType::f32; }

  static SafeScale of(const ScalarExpr& mean) {
    constexpr double kStep = 0x1p50, kFar = 0x1p32, kFarther = 0x1p80;
    const auto power = [&](double step) {
      const ScalarExpr large =
          select(mean > kFarther, mean.like(1 / step / step), mean.like(1 / step));
      const ScalarExpr small = select(mean < 1 / kFarther, mean.like(step * step), mean.like(step));
      return select(mean > kFar, large, select(mean < 1 / kFar, small, mean.like(1)));
    };
    return {power(kStep), power(1 / kStep)};
  }
};

}  // namespace recut::loop

// The rounding that every comparison allows, and the norm that it measures errors by.
#pragma once

#include <cmath>

#include "engine/ir/dtype.h"

namespace recut {

struct CompareTolerance {
  double relative, absolute;
};

inline constexpr CompareTolerance kUsualTolerance{1e-5, 1e-6};

// Half and 8-bit types: about two units in the last place, as every operator rounds to them once.
inline CompareTolerance tolerance_of(DType dtype) {
  const bool two_bits = dtype == DType::f8e5m2 || dtype == DType::f8e5m2fnuz;
  if (is_float8(dtype))
    return two_bits ? CompareTolerance{0.25, 0.025} : CompareTolerance{0.125, 0.0125};
  if (dtype == DType::f16) return {1e-3, 1e-4};
  if (dtype == DType::bf16) return {8e-3, 8e-4};
  return kUsualTolerance;
}

inline bool same_special(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (std::isinf(b) && a == b);
}

// A Euclidean norm that doesn't overflow where its squares would (LAPACK's dnrm2, of old).
class CompareNorm {
 public:
  void add(double x) {
    x = std::abs(x);
    if (x == 0) return;
    if (x <= scale_) {
      sum_ += (x / scale_) * (x / scale_);
    } else {
      sum_ = 1 + sum_ * (scale_ / x) * (scale_ / x);
      scale_ = x;
    }
  }
  double value() const { return scale_ * std::sqrt(sum_); }

 private:
  double scale_ = 0, sum_ = 0;
};

}  // namespace recut

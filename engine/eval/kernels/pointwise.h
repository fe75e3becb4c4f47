// Functions that several element-wise kernels use.
#pragma once

#include <cmath>

#include "engine/eval/kernel.h"

namespace recut {

// -1, 0 or 1; NaN and zeros stay as they are.
inline double sign_or_nan(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace recut

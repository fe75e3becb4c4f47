// Machine epsilon of each dtype.
#pragma once

#include <limits>

#include "engine/ir/dtype.h"

namespace recut {

// The distance from 1 to the next larger number (torch.finfo's eps); f64's for dtypes that aren't
// floating.
constexpr double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return std::numeric_limits<float>::epsilon();
    case DType::f16:
      return 0x1p-10;
    case DType::bf16:
      return 0x1p-7;
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
      return 0x1p-3;
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
      return 0x1p-2;
    default:
      return std::numeric_limits<double>::epsilon();
  }
}

}  // namespace recut

// Powers that are the same bits on every platform: the libraries differ in pow, never in sqrt.
#pragma once

#include <cmath>

namespace recut::peak {

// x to the power of quarters / 4, of 0 … 4 quarters; x is 0 or more.
inline double quarter_power(double x, int quarters) {
  const double half = std::sqrt(x);
  switch (quarters) {
    case 0:
      return 1;
    case 1:
      return std::sqrt(half);
    case 2:
      return half;
    case 3:
      return half * std::sqrt(half);
    default:
      return x;
  }
}

}  // namespace recut::peak

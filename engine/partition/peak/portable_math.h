// Powers and logarithms with the same bits on every platform: math libraries differ in pow, exp and
// log, never in sqrt and frexp. Equal bits give equal plans everywhere.
#pragma once

#include <cmath>

namespace recut::peak {

// x to the power of quarters / 4, for 0 … 4 quarters and x >= 0.
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

// The natural logarithm of x > 0, to nine digits: the series of artanh on the mantissa.
inline double logarithm(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) m *= 2, --exponent;
  const double z = (m - 1) / (m + 1), zz = z * z;
  const double series = 1 + zz * (1.0 / 3 + zz * (1.0 / 5 + zz * (1.0 / 7 + zz * (1.0 / 9))));
  return 0.69314718055994531 * exponent + 2 * z * series;
}

// Geometric interpolation between a and b, both above 0: about a * (b/a)^share, by the limit that
// defines the exponential function, (1 + y/1024)^1024.
inline double interpolate_geometric(double a, double b, double share) {
  double factor = 1 + share * logarithm(b / a) / 1024;
  for (int i = 0; i < 10; ++i) factor *= factor;
  return a * factor;
}

}  // namespace recut::peak

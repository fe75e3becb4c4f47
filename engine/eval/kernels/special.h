// Special functions that several kernels compute. All compute in double, accurate to far more
// digits than f32 has (mostly 1e-10 or better), by methods that each file names.
#pragma once

#include "engine/eval/kernel.h"

namespace recut {

// exp(x) times the modified Bessel function of the second kind of order `nu`, for x >= 1.
double scaled_bessel_k(double nu, double x);

// Hurwitz zeta function, the sum over k >= 0 of (k + q)^-s, as ATen defines it outside s > 1, q >
// 0.
double zeta(double s, double q);

}  // namespace recut

// Mathematical constants, to more digits than a double has: the interpreter and lowered kernels use
// the same ones, so that their results agree to the bit.
#pragma once

namespace recut {

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kEulerGamma = 0.57721566490153286061;  // Euler and Mascheroni's
inline constexpr double kInvSqrt2 = 0.70710678118654752440;    // 1 / sqrt(2)

}  // namespace recut

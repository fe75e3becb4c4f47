// Arithmetic of complex numbers as PyTorch has it.
#pragma once

#include <cmath>

#include "engine/eval/tensor.h"

namespace recut {

// a / b by Smith's algorithm (Communications of the ACM 5, 1962): |b|^2 may overflow. Division by
// zero divides each part.
inline Complex divided(Complex a, Complex b) {
  const double c = b.real(), d = b.imag();
  if (c == 0 && d == 0) return {a.real() / std::abs(c), a.imag() / std::abs(d)};
  if (std::abs(c) >= std::abs(d)) {
    const double ratio = d / c, scale = 1 / (c + d * ratio);
    return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
  }
  const double ratio = c / d, scale = 1 / (c * ratio + d);
  return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}

// x / |x|; 0 for 0.
inline Complex sign_of(Complex x) {
  const double magnitude = std::abs(x);
  return magnitude == 0 ? Complex() : x / magnitude;
}

}  // namespace recut

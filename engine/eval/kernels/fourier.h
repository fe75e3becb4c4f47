// Discrete Fourier transforms of any length.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/eval/tensor.h"

namespace recut {

// X[k] = sum over j of x[j] exp(∓2πi jk / n), with the plus where `inverse`; nothing is divided.
// Lengths with small prime factors are split by Cooley and Tukey's algorithm. Other lengths become
// a convolution (Bluestein 1970), so that all take O(n log n).
class FourierTransform {
 public:
  explicit FourierTransform(std::int64_t length);

  // Transforms the `length` numbers in place.
  void run(std::vector<Complex>& line, bool inverse) const;

 private:
  void forward(std::vector<Complex>& line) const;
  void split(const Complex* in, std::int64_t step, Complex* out, std::int64_t length) const;
  void combine(Complex* out, std::int64_t length, std::int64_t factor) const;
  void convolve(std::vector<Complex>& line) const;

  std::int64_t length_;
  bool by_factors_;
  std::vector<Complex> roots_;  // exp(-2πi j / length), or the chirp exp(-πi j² / length)
};

}  // namespace recut

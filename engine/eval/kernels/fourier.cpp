#include "engine/eval/kernels/fourier.h"

#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/support/constants.h"

namespace recut {
namespace {

using elementwise::times;

// Up to this prime factor a sum over it costs less than a convolution.
constexpr std::int64_t kLargestFactor = 31;

std::int64_t smallest_factor(std::int64_t n) {
  for (std::int64_t p = 2; p <= kLargestFactor; ++p)
    if (n % p == 0) return p;
  return n;
}

bool has_small_factors(std::int64_t n) {
  while (n > 1) {
    const std::int64_t p = smallest_factor(n);
    if (p > kLargestFactor) return false;
    n /= p;
  }
  return true;
}

// exp(-2πi j / n). The angle is folded into the first octant, so that quarter turns are exact.
Complex root_of_unity(std::int64_t j, std::int64_t n) {
  const std::int64_t eighths = 8 * (j % n);
  const std::int64_t octant = eighths / n, rest = eighths % n;
  const bool odd = octant % 2 != 0;
  const double angle =
      kPi / 4 * static_cast<double>(odd ? n - rest : rest) / static_cast<double>(n);
  double c = std::cos(angle), s = std::sin(angle);
  if (octant % 4 == 1 || octant % 4 == 2) std::swap(c, s);  // about the imaginary axis
  const bool left = octant >= 2 && octant < 6, below = octant >= 4;
  return {left ? -c : c, below ? s : -s};
}

}  // namespace

FourierTransform::FourierTransform(std::int64_t length)
    : length_(length), by_factors_(has_small_factors(length)) {
  roots_.reserve(static_cast<std::size_t>(length));
  for (std::int64_t j = 0; j < length; ++j)
    roots_.push_back(by_factors_ ? root_of_unity(j, length)
                                 : root_of_unity(j * j % (2 * length), 2 * length));
}

void FourierTransform::run(std::vector<Complex>& line, bool inverse) const {
  if (!inverse) return forward(line);
  for (Complex& x : line) x = std::conj(x);
  forward(line);
  for (Complex& x : line) x = std::conj(x);
}

void FourierTransform::forward(std::vector<Complex>& line) const {
  if (!by_factors_) return convolve(line);
  const std::vector<Complex> in = line;
  split(in.data(), 1, line.data(), length_);
}

// Transforms every `step`-th number, `length` of them.
void FourierTransform::split(const Complex* in, std::int64_t step, Complex* out,
                             std::int64_t length) const {
  if (length == 1) {
    out[0] = in[0];
    return;
  }
  const std::int64_t factor = smallest_factor(length);
  const std::int64_t part = length / factor;
  for (std::int64_t r = 0; r < factor; ++r)
    split(in + r * step, step * factor, out + r * part, part);
  combine(out, length, factor);
}

// The transforms of the `factor` interleaved parts become that of the whole.
void FourierTransform::combine(Complex* out, std::int64_t length, std::int64_t factor) const {
  const std::int64_t part = length / factor;
  const std::int64_t turn = length_ / length;  // roots_ has this many steps to one of `length`
  Complex terms[kLargestFactor];
  for (std::int64_t k = 0; k < part; ++k) {
    for (std::int64_t r = 0; r < factor; ++r)
      terms[r] = times(out[r * part + k], roots_[static_cast<std::size_t>(r * k * turn)]);
    for (std::int64_t q = 0; q < factor; ++q) {
      Complex sum = terms[0];
      for (std::int64_t r = 1; r < factor; ++r)
        sum += times(terms[r], roots_[static_cast<std::size_t>(r * q % factor * part * turn)]);
      out[q * part + k] = sum;
    }
  }
}

// jk = (j² + k² - (k - j)²) / 2 makes the transform a convolution with a chirp.
void FourierTransform::convolve(std::vector<Complex>& line) const {
  std::int64_t padded = 1;
  while (padded < 2 * length_ - 1) padded *= 2;
  const FourierTransform power_of_two(padded);
  const auto size = static_cast<std::size_t>(padded);
  std::vector<Complex> values(size), chirp(size);
  for (std::size_t j = 0; j < roots_.size(); ++j) {
    values[j] = times(line[j], roots_[j]);
    chirp[j] = std::conj(roots_[j]);
    if (j > 0) chirp[size - j] = chirp[j];
  }
  power_of_two.run(values, false);
  power_of_two.run(chirp, false);
  for (std::size_t j = 0; j < size; ++j) values[j] = times(values[j], chirp[j]);
  power_of_two.run(values, true);
  for (std::size_t k = 0; k < roots_.size(); ++k)
    line[k] = times(values[k], roots_[k]) / static_cast<double>(padded);
}

}  // namespace recut

// Fourier transforms of real and complex tensors over one or several dimensions, one after another.
#include <cmath>

#include "engine/eval/kernels/fourier.h"
#include "engine/eval/kernels/reduction.h"

namespace recut {
namespace {

std::vector<std::size_t> transformed_dimensions(const Call& call, const Shape& shape) {
  std::vector<std::size_t> dims;
  for (const std::int64_t d : call.integers("dim"))
    dims.push_back(static_cast<std::size_t>(
        wrap_dimension(d, static_cast<std::int64_t>(shape.size())).value()));
  return dims;
}

void transform(Complexes& values, std::size_t dim, bool inverse) {
  if (values.count() == 0) return;
  const Lines lines(values.shape, static_cast<std::int64_t>(dim));
  const FourierTransform fourier(lines.length);
  std::vector<Complex> line(static_cast<std::size_t>(lines.length));
  for (std::int64_t i = 0; i < lines.count; ++i) {
    std::int64_t at = lines.begin(i);
    for (Complex& x : line) x = values[at], at += lines.step;
    fourier.run(line, inverse);
    at = lines.begin(i);
    for (const Complex& x : line) values[at] = x, at += lines.step;
  }
}

// Divides by nothing, by the root of the signal's length or by the length: modes 0, 1 and 2.
void normalise(Complexes& values, std::int64_t mode, const Shape& signal,
               const std::vector<std::size_t>& dims) {
  if (mode == 0) return;
  double length = 1;
  for (const std::size_t d : dims) length *= static_cast<double>(signal[d]);
  const double divisor = mode == 1 ? std::sqrt(length) : length;
  for (Complex& x : values.data) x /= divisor;
}

Result<Done> complex_to_complex(KernelContext& c) {
  Complexes values = c.complexes("self");
  const auto dims = transformed_dimensions(c.call, values.shape);
  for (const std::size_t d : dims) transform(values, d, !c.call.boolean("forward"));
  normalise(values, c.call.integer("normalization"), values.shape, dims);
  c.write(values);
  return Done{};
}

// The values along `dim` of `shape`, whose extent there may be shorter or longer: `source` gives the
// element for a position along `dim`.
template <class Source>
Complexes along(const Complexes& from, std::size_t dim, const Shape& shape, Source source) {
  Complexes to(shape);
  const Lines old_lines(from.shape, static_cast<std::int64_t>(dim));
  const Lines new_lines(shape, static_cast<std::int64_t>(dim));
  if (to.count() == 0) return to;
  for (std::int64_t i = 0; i < new_lines.count; ++i)
    for (std::int64_t k = 0; k < new_lines.length; ++k)
      to[new_lines.begin(i) + k * new_lines.step] =
          source(from, old_lines.begin(i), old_lines.step, k);
  return to;
}

Result<Done> real_to_complex(KernelContext& c) {
  Complexes values = c.complexes("self");
  const Shape signal = values.shape;
  const auto dims = transformed_dimensions(c.call, signal);
  for (const std::size_t d : dims) transform(values, d, false);
  normalise(values, c.call.integer("normalization"), signal, dims);
  if (c.call.boolean("onesided"))
    values = along(values, dims.back(), c.output_types[0].shape,
                   [](const Complexes& from, std::int64_t begin, std::int64_t step,
                      std::int64_t k) { return from[begin + k * step]; });
  c.write(values);
  return Done{};
}

// The half of a spectrum that is there gives the other one: the transform is of a real signal. The
// imaginary parts of the first number, and of the middle one of an even length, don't count.
Result<Done> complex_to_real(KernelContext& c) {
  Complexes values = c.complexes("self");
  const Shape& signal = c.output_types[0].shape;
  const auto dims = transformed_dimensions(c.call, signal);
  const std::size_t last = dims.back();
  for (std::size_t i = 0; i + 1 < dims.size(); ++i) transform(values, dims[i], true);
  const std::int64_t length = signal[last];
  values = along(
      values, last, signal,
      [&](const Complexes& from, std::int64_t begin, std::int64_t step, std::int64_t k) -> Complex {
        if (k == 0 || 2 * k == length) return from[begin + k * step].real();
        if (2 * k < length) return from[begin + k * step];
        return std::conj(from[begin + (length - k) * step]);
      });
  transform(values, last, true);
  normalise(values, c.call.integer("normalization"), signal, dims);
  c.write(values);
  return Done{};
}

}  // namespace

void add_fourier_kernels(KernelTable& table) {
  table.add_complex(Op::_fft_c2c, complex_to_complex);
  table.add_complex(Op::_fft_r2c, real_to_complex);
  table.add_complex(Op::_fft_c2r, complex_to_real);
}

}  // namespace recut

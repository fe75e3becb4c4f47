// Fourier transforms of signals, and the windows and the mel filters that stand beside them. A
// signal's last dimension has one part, or the real and the imaginary one; a spectrum's has both.
// Source: the texts and the reference implementation of ONNX's operators.
#include <fmt/core.h>

#include <cmath>

#include "engine/onnx/lowering.h"
#include "engine/support/constants.h"

namespace recut::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kMaxLength = std::int64_t{1} << 30;
constexpr std::int64_t kMaxKnown = std::int64_t{1} << 24;  // elements of a window or of filters

std::int64_t length_in(const Lowering& node, std::size_t input, std::string_view what,
                       std::int64_t most) {
  const std::int64_t length = node.whole(input, what);
  if (length < 1 || length > most)
    node.refuse(fmt::format("{} is {}, expected 1 to {}", what, length, most));
  return length;
}

DType computing(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

// Cut, or padded by zeros, to a length.
NodeId resized(Lowering& node, NodeId id, std::int64_t axis, std::int64_t length) {
  const Shape shape = node.shape(id);
  const std::int64_t size = shape[static_cast<std::size_t>(axis)];
  if (length == size) return id;
  if (length < size) return node.make(Op::slice_Tensor, {id, axis, std::int64_t{0}, length});
  Ints pads(2 * (shape.size() - static_cast<std::size_t>(axis)), 0);
  pads.back() = length - size;
  return node.make(Op::constant_pad_nd, {id, Argument(pads), 0.0});
}

struct Transform {
  std::int64_t axis;
  bool inverse = false, onesided = false;
};

NodeId transformed(Lowering& node, NodeId signal, const Transform& t) {
  const std::int64_t parts = node.shape(signal).back();
  if (parts != 1 && parts != 2)
    node.refuse(fmt::format("a signal of {} parts, expected a real or a complex one", parts));
  if (t.onesided && parts == 2) node.refuse("a onesided spectrum of a complex signal");
  if (t.onesided && t.inverse) node.refuse("a onesided inverse transform");
  const std::int64_t divisor = t.inverse ? 2 : 0;  // by the length, or none
  const Argument axes(Ints{t.axis});
  if (parts == 1) {
    const NodeId real = node.make(Op::squeeze_dim, {signal, std::int64_t{-1}});
    const NodeId spectrum = node.make(Op::_fft_r2c, {real, axes, divisor, t.onesided});
    return node.make(Op::view_as_real,
                     {t.inverse ? node.make(Op::_conj_physical, {spectrum}) : spectrum});
  }
  const auto part = [&](std::int64_t index) {
    return node.make(Op::select_int, {signal, std::int64_t{-1}, index});
  };
  const NodeId re = part(0), im = part(1);
  const NodeId whole = node.make(Op::complex, {re, im});
  return node.make(Op::view_as_real, {node.make(Op::_fft_c2c, {whole, axes, divisor, !t.inverse})});
}

template <std::int64_t default_axis>
Lowered dft(Lowering& node) {
  const std::int64_t rank = node.rank(0);
  const DType dtype = node.type(0).dtype;
  Transform t{node.axis(node.has(2) ? node.whole(2, "axis") : default_axis, rank)};
  if (t.axis == rank - 1) node.refuse("a transform along the parts of a number");
  t.inverse = node.integer("inverse", 0) != 0;
  t.onesided = node.integer("onesided", 0) != 0;
  NodeId signal = node.convert(node.in(0), computing(dtype));
  if (node.has(1))
    signal = resized(node, signal, t.axis, length_in(node, 1, "dft_length", kMaxLength));
  return Lowering::one(node, node.convert(transformed(node, signal, t), dtype));
}

// Frames of the signal, each as long as the window, and their transforms.
Lowered stft(Lowering& node) {
  const DType dtype = node.type(0).dtype;
  Shape shape = node.type(0).shape;
  if (shape.size() == 2) shape.push_back(1);
  if (shape.size() != 3)
    node.refuse(fmt::format("a signal of {} dimensions, expected 3", shape.size()));
  NodeId signal = node.reshape(node.convert(node.in(0), computing(dtype)), shape);
  const std::int64_t step = length_in(node, 1, "frame_step", kMaxLength);
  if (node.has(2) && node.rank(2) != 1) node.refuse("a window that is no list");
  std::int64_t length = node.has(2) ? node.type(2).shape[0] : shape[1];
  if (node.has(3)) {
    const std::int64_t given = length_in(node, 3, "frame_length", kMaxLength);
    if (node.has(2) && given != length)
      node.refuse(fmt::format("frames of {} elements, but a window of {}", given, length));
    length = given;
  }
  if (length < 1 || length > shape[1])
    node.refuse(fmt::format("frames of {} elements of a signal of {}", length, shape[1]));
  NodeId frames = node.make(Op::unfold, {signal, std::int64_t{1}, length, step});
  if (node.has(2))
    frames = node.make(Op::mul_Tensor, {frames, node.convert(node.in(2), computing(dtype))});
  frames = node.make(Op::permute, {frames, Argument(Ints{0, 1, 3, 2})});
  const Transform t{2, false, node.integer("onesided", 1) != 0};
  return Lowering::one(node, node.convert(transformed(node, frames, t), dtype));
}

DType output_dtype(const Lowering& node) {
  return dtype_of(static_cast<std::int32_t>(node.integer("output_datatype", 1)), "output_datatype");
}

// a - b cos(t) + c cos(2t) over one turn; a symmetric window ends where the turn does.
struct Cosines {
  double a, b, c;
};

Lowered window(const Lowering& node, const Cosines& cosines) {
  const std::int64_t size = length_in(node, 0, "size", kMaxKnown);
  const std::int64_t turn = node.integer("periodic", 1) != 0 ? size : size - 1;
  if (turn == 0) node.refuse("a symmetric window of one sample, which has no value");
  std::vector<double> samples;
  for (std::int64_t i = 0; i < size; ++i) {
    const double t = 2 * kPi * static_cast<double>(i) / static_cast<double>(turn);
    samples.push_back(cosines.a - cosines.b * std::cos(t) + cosines.c * std::cos(2 * t));
  }
  return {Lowering::known_value(reals_tensor(samples, {size}, output_dtype(node)))};
}

Lowered hann(Lowering& node) { return window(node, {0.5, 0.5, 0}); }
Lowered hamming(Lowering& node) { return window(node, {25.0 / 46, 21.0 / 46, 0}); }
Lowered blackman(Lowering& node) { return window(node, {0.42, 0.5, 0.08}); }

// The bins of a spectrum at which the triangular filters begin, peak and end: each filter peaks
// where the one before ends. They are at equal steps of the mel scale.
Ints filter_bins(const Lowering& node, std::int64_t filters, std::int64_t length) {
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double rate = static_cast<double>(length_in(node, 2, "sample_rate", kMaxLength));
  const double low = mel(node.real(3, "lower_edge_hertz"));
  const double step =
      (mel(node.real(4, "upper_edge_hertz")) - low) / static_cast<double>(filters + 2);
  Ints bins;
  for (std::int64_t i = 0; i < filters + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (low + step * static_cast<double>(i)) / 2595) - 1);
    const double bin = std::floor(static_cast<double>(length + 1) * hertz / rate);
    if (!(bin >= 0 && bin <= static_cast<double>(length / 2)) || (i > 0 && !(step >= 0)))
      node.refuse("edges that aren't frequencies of the spectrum, from low to high");
    bins.push_back(static_cast<std::int64_t>(bin));
  }
  return bins;
}

Lowered mel_weight_matrix(Lowering& node) {
  const std::int64_t filters = length_in(node, 0, "num_mel_bins", kMaxKnown);
  const std::int64_t length = length_in(node, 1, "dft_length", kMaxKnown);
  const std::int64_t rows = length / 2 + 1;
  if (rows > kMaxKnown / filters)
    node.refuse(fmt::format("{} filters of {} bins are too many", filters, rows));
  const Ints bins = filter_bins(node, filters, length);
  std::vector<double> weights(static_cast<std::size_t>(rows * filters), 0);
  for (std::int64_t i = 0; i < filters; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t begin = bins[at], peak = bins[at + 1], end = bins[at + 2];
    const auto weight = [&](std::int64_t bin) -> double& {
      return weights[static_cast<std::size_t>(bin * filters + i)];
    };
    const auto ratio = [](std::int64_t a, std::int64_t b) {
      return static_cast<double>(a) / static_cast<double>(b);
    };
    for (std::int64_t bin = begin; bin < peak; ++bin)
      weight(bin) = ratio(bin - begin, peak - begin);
    weight(peak) = 1;
    for (std::int64_t bin = peak; bin < end; ++bin) weight(bin) = ratio(end - bin, end - peak);
  }
  return {Lowering::known_value(reals_tensor(weights, {rows, filters}, output_dtype(node)))};
}

}  // namespace

std::vector<OperatorLowering> spectral_lowerings() {
  return {{"DFT", dft<1>, 20},
          {"DFT", dft<-2>},
          {"STFT", stft},
          {"HannWindow", hann},
          {"HammingWindow", hamming},
          {"BlackmanWindow", blackman},
          {"MelWeightMatrix", mel_weight_matrix}};
}

}  // namespace recut::onnx

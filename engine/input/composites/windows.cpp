// Windows of signals (torch.hann_window and its like), and frequencies of transforms.
//
// A window of N samples is symmetric, or one of N + 1 without its last sample: then it is periodic.
// The order of operations is PyTorch's (aten/src/ATen/native/TensorFactories.cpp).
#include "engine/input/composite_operators.h"

#include <algorithm>

namespace recut {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr std::int64_t kMaxSamples = std::int64_t{1} << 40;

DType dtype_of(const Call& call) { return call.maybe_dtype("dtype").value_or(DType::f32); }
std::string device_of(const Call& call) { return std::string(call.text("device")); }

Keywords type_of(const Call& call) {
  Keywords keywords{{"dtype", dtype_of(call)}};
  if (call.given("device")) keywords.emplace_back("device", device_of(call));
  return keywords;
}

bool has(const Call& call, std::string_view parameter) {
  return call.op().parameter(parameter).has_value();
}

// `samples` computes the symmetric window of a range 0 … count - 1.
template <class Samples>
Expansion window(Builder& b, const Call& call, Samples samples) {
  const std::int64_t length = call.integer("window_length");
  const DType dtype = dtype_of(call);
  if (length < 0 || length > kMaxSamples || !is_floating(dtype)) return Expansion::none();
  if (length < 2) return b.full({length}, 1.0, dtype, device_of(call));
  const bool periodic = !has(call, "periodic") || call.boolean("periodic");
  const std::int64_t count = length + (periodic ? 1 : 0);
  const Value symmetric = samples(b(Op::arange, {count}, type_of(call)), count);
  return periodic ? b(Op::slice_Tensor, {symmetric, 0, 0, length}) : symmetric;
}

Value cosine(Builder& b, const Value& x) { return b(Op::cos, {x}); }

Expansion cosine_window(Builder& b, const Call& call, double alpha, double beta) {
  return window(b, call, [&](const Value& at, std::int64_t count) {
    return cosine(b, at * (kPi * 2 / static_cast<double>(count - 1))) * -beta + alpha;
  });
}
Expansion hann(Builder& b, const Call& call) { return cosine_window(b, call, 0.5, 0.5); }
Expansion hamming(Builder& b, const Call& call) {
  return cosine_window(b, call, has(call, "alpha") ? call.real("alpha") : 0.54,
                       has(call, "beta") ? call.real("beta") : 0.46);
}

Expansion blackman(Builder& b, const Call& call) {
  return window(b, call, [&](const Value& at, std::int64_t count) {
    const Value angle = at * (kPi / static_cast<double>(count - 1));
    return cosine(b, angle * 4.0) * 0.08 - cosine(b, angle * 2.0) * 0.5 + 0.42;
  });
}

Expansion bartlett(Builder& b, const Call& call) {
  return window(b, call, [&](const Value& at, std::int64_t count) {
    const Value rising = at * (2.0 / static_cast<double>(count - 1));
    const std::int64_t half = (count - 1) / 2 + 1;
    const Value falling = b(Op::slice_Tensor, {rising, 0, half, count}) * -1.0 + 2.0;
    const Value first = b(Op::slice_Tensor, {rising, 0, 0, half});
    return b(Op::cat, {std::vector<Value>{first, falling}, 0});
  });
}

// The ratio of two Bessel functions.
Expansion kaiser(Builder& b, const Call& call) {
  const double beta = has(call, "beta") ? call.real("beta") : 12;
  return window(b, call, [&](const Value& at, std::int64_t count) {
    const Value x = at * (2.0 / static_cast<double>(count - 1)) - 1.0;
    const Value root = b(Op::sqrt, {b(Op::clamp_min, {1.0 - x * x, 0.0})});
    const Value most = b.full({}, beta, dtype_of(call), device_of(call));
    return b(Op::i0, {root * beta}) / b(Op::i0, {most});
  });
}

// 0, 1, …, -2, -1, over n * d; of a real signal, 0 and the positive ones.
Expansion frequencies(Builder& b, const Call& call) {
  const std::int64_t n = call.integer("n");
  const double unit = static_cast<double>(n) * call.real("d");
  if (n < 1 || n > kMaxSamples || unit == 0) return Expansion::none();
  const Value positive = b(Op::arange, {(n + 1) / 2}, type_of(call));
  const Value negative = b(Op::arange_start, {-(n / 2), 0}, type_of(call));
  return b(Op::cat, {std::vector<Value>{positive, negative}, 0}) * (1.0 / unit);
}
Expansion real_frequencies(Builder& b, const Call& call) {
  const std::int64_t n = call.integer("n");
  const double unit = static_cast<double>(n) * call.real("d");
  if (n < 1 || n > kMaxSamples || unit == 0) return Expansion::none();
  return b(Op::arange, {n / 2 + 1}, type_of(call)) * (1.0 / unit);
}

}  // namespace

std::vector<CompositeRow> window_composites() {
  return {
      {"aten::hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
       "Device? device=None, bool? pin_memory=None) -> Tensor",
       hann},
      {"aten::hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
       "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
       hann},
      {"aten::hamming_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
       "Device? device=None, bool? pin_memory=None) -> Tensor",
       hamming},
      {"aten::hamming_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
       "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
       hamming},
      {"aten::hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, "
       "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) "
       "-> Tensor",
       hamming},
      {"aten::hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, "
       "float beta, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
       "pin_memory=None) -> Tensor",
       hamming},
      {"aten::blackman_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
       "Device? device=None, bool? pin_memory=None) -> Tensor",
       blackman},
      {"aten::blackman_window.periodic(int window_length, bool periodic, *, ScalarType? "
       "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
       blackman},
      {"aten::bartlett_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
       "Device? device=None, bool? pin_memory=None) -> Tensor",
       bartlett},
      {"aten::bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? "
       "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
       bartlett},
      {"aten::kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
       "Device? device=None, bool? pin_memory=None) -> Tensor",
       kaiser},
      {"aten::kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
       "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
       kaiser},
      {"aten::kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? "
       "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
       kaiser},
      {"aten::fft_fftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, "
       "Device? device=None, bool? pin_memory=None) -> Tensor",
       frequencies},
      {"aten::fft_rfftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, "
       "Device? device=None, bool? pin_memory=None) -> Tensor",
       real_frequencies},
  };
}

}  // namespace recut

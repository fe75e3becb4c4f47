// Fourier transforms of torch.fft, windows of signals, and transforms of short times (stft).
//
//   fft_rfft(x, n, dim, norm)  ⇒  the signal cut or padded to n, and one transform of the table
//
// A transform and its inverse divide by the lengths' product together; `norm` says which of them
// does. Source: torch.fft and torch.stft in PyTorch's documentation.
#include "engine/input/composite_operators.h"

#include <algorithm>
#include <numeric>

#include "engine/ir/promotion.h"

namespace recut {
namespace {

using Dims = std::vector<std::int64_t>;

Value signal_of(Builder& b, const Call& call) { return b.value(call.node("self")); }

// Divisors by the signal's length, as the table's transforms number them.
constexpr std::int64_t kNoDivisor = 0, kRootDivisor = 1, kLengthDivisor = 2;

// None if `norm` is no mode.
std::optional<std::int64_t> divisor_of(const Call& call, bool forward) {
  const std::string_view norm = call.text("norm");
  if (norm == "ortho") return kRootDivisor;
  if (norm.empty() || norm == "backward") return forward ? kNoDivisor : kLengthDivisor;
  if (norm == "forward") return forward ? kLengthDivisor : kNoDivisor;
  return std::nullopt;
}

Value real_or_complex(Builder& b, const Value& x) {
  return is_floating(x.dtype()) || is_complex(x.dtype()) ? x : b.convert(x, DType::f32);
}
Value as_complex(Builder& b, const Value& x) {
  const Value y = real_or_complex(b, x);
  if (is_complex(y.dtype())) return y;
  return b.convert(y, y.dtype() == DType::f64 ? DType::c128 : DType::c64);
}
Value conjugate_of(Builder& b, const Value& x) { return b(Op::_conj_physical, {x}); }

// Cut, or padded by zeros, to a length.
Value resized(Builder& b, const Value& x, std::int64_t dim, std::int64_t length) {
  if (length < 1) return b.fail("a transform's length is below 1");
  if (!x.valid() || x.size(dim) == length) return x;
  if (length < x.size(dim)) return b(Op::slice_Tensor, {x, dim, 0, length});
  const std::int64_t at = dim < 0 ? dim + x.rank() : dim;
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(at)] = length - x.size(dim);
  const Value zeros = b(Op::zeros, {shape}, {{"dtype", x.dtype()}});
  return b(Op::cat, {std::vector<Value>{x, zeros}, at});
}

struct Transform {
  Value signal;
  Dims dims;
  std::int64_t divisor = 0;
};

Value complex_transform(Builder& b, const Transform& t, bool forward) {
  return b(Op::_fft_c2c, {t.signal, t.dims, t.divisor, forward});
}
// Of a real signal. The inverse has the conjugate values.
Value real_transform(Builder& b, const Transform& t, bool forward, bool onesided) {
  const Value spectrum = b(Op::_fft_r2c, {t.signal, t.dims, t.divisor, onesided});
  return forward ? spectrum : conjugate_of(b, spectrum);
}
Value inverse_to_real(Builder& b, const Transform& t, bool forward, std::int64_t length) {
  const Value spectrum = forward ? conjugate_of(b, t.signal) : t.signal;
  return b(Op::_fft_c2r, {spectrum, t.dims, t.divisor, length});
}

// One dimension
// -------------

std::optional<Transform> one_dimension(Builder& b, const Call& call, bool forward) {
  const auto divisor = divisor_of(call, forward);
  const Value x = real_or_complex(b, signal_of(b, call));
  const std::int64_t dim = call.integer("dim");
  if (!divisor || x.rank() == 0 || dim < -x.rank() || dim >= x.rank()) return std::nullopt;
  return Transform{x, {dim}, *divisor};
}

template <bool forward>
Expansion fft(Builder& b, const Call& call) {
  auto t = one_dimension(b, call, forward);
  if (!t) return Expansion::none();
  if (call.given("n")) t->signal = resized(b, t->signal, t->dims[0], call.integer("n"));
  return is_complex(t->signal.dtype()) ? complex_transform(b, *t, forward)
                                       : real_transform(b, *t, forward, false);
}
// rfft, and ihfft, its conjugate.
template <bool forward>
Expansion half_of_real(Builder& b, const Call& call) {
  auto t = one_dimension(b, call, forward);
  if (!t || is_complex(t->signal.dtype())) return Expansion::none();
  if (call.given("n")) t->signal = resized(b, t->signal, t->dims[0], call.integer("n"));
  return real_transform(b, *t, forward, true);
}
// irfft, and hfft, that of the conjugate.
template <bool forward>
Expansion real_of_half(Builder& b, const Call& call) {
  auto t = one_dimension(b, call, forward);
  if (!t) return Expansion::none();
  const std::int64_t length =
      call.given("n") ? call.integer("n") : 2 * (t->signal.size(t->dims[0]) - 1);
  if (length < 1) return b.fail("a transform's length is below 1");
  t->signal = resized(b, as_complex(b, t->signal), t->dims[0], length / 2 + 1);
  return inverse_to_real(b, *t, forward, length);
}

// Several dimensions
// ------------------

// The dimensions, the last ones of `s` without a list; the signal is cut or padded to `s`. Those of
// a halved spectrum hold its last dimension's length.
struct Several {
  Transform transform;
  std::int64_t last_length = 0;
};

std::optional<Several> several_dimensions(Builder& b, const Call& call, bool forward, bool halved) {
  const auto divisor = divisor_of(call, forward);
  Value x = real_or_complex(b, signal_of(b, call));
  if (halved) x = as_complex(b, x);
  Dims dims;
  Dims sizes = call.given("s") ? call.integers("s") : Dims();
  if (call.given("dim")) {
    dims = call.integers("dim");
  } else {
    const std::int64_t count = call.given("s") ? static_cast<std::int64_t>(sizes.size()) : x.rank();
    for (std::int64_t d = x.rank() - count; d < x.rank(); ++d) dims.push_back(d);
  }
  for (const std::int64_t dim : dims)
    if (dim < -x.rank() || dim >= x.rank()) return std::nullopt;
  if (!divisor || dims.empty() || (!sizes.empty() && sizes.size() != dims.size()))
    return std::nullopt;
  const bool last_given = !sizes.empty() && sizes.back() != -1;
  const std::int64_t last = last_given ? sizes.back() : 2 * (x.size(dims.back()) - 1);
  if (halved && last < 1) return std::nullopt;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i + 1 == dims.size() && halved)
      x = resized(b, x, dims[i], last / 2 + 1);
    else if (!sizes.empty() && sizes[i] != -1)
      x = resized(b, x, dims[i], sizes[i]);
  }
  return Several{{x, dims, *divisor}, last};
}

template <bool forward>
Expansion fftn(Builder& b, const Call& call) {
  auto s = several_dimensions(b, call, forward, false);
  if (!s) return Expansion::none();
  s->transform.signal = as_complex(b, s->transform.signal);
  return complex_transform(b, s->transform, forward);
}
Expansion rfftn(Builder& b, const Call& call) {
  const auto s = several_dimensions(b, call, true, false);
  if (!s || is_complex(s->transform.signal.dtype())) return Expansion::none();
  return real_transform(b, s->transform, true, true);
}
Expansion irfftn(Builder& b, const Call& call) {
  const auto s = several_dimensions(b, call, false, true);
  return s ? Expansion(inverse_to_real(b, s->transform, false, s->last_length)) : Expansion::none();
}
// Every dimension but the last forward, then hfft over the last.
Expansion hfftn(Builder& b, const Call& call) {
  auto s = several_dimensions(b, call, true, true);
  if (!s) return Expansion::none();
  Transform before = s->transform, last = s->transform;
  before.dims.pop_back();
  last.dims = {s->transform.dims.back()};
  if (!before.dims.empty()) last.signal = complex_transform(b, before, true);
  return inverse_to_real(b, last, true, s->last_length);
}
// ihfft over the last dimension, then every other dimension backward.
Expansion ihfftn(Builder& b, const Call& call) {
  auto s = several_dimensions(b, call, false, false);
  if (!s || is_complex(s->transform.signal.dtype())) return Expansion::none();
  Transform before = s->transform, last = s->transform;
  before.dims.pop_back();
  last.dims = {s->transform.dims.back()};
  before.signal = real_transform(b, last, false, true);
  return before.dims.empty() ? before.signal : complex_transform(b, before, false);
}

// The zero frequency moves to the middle, or back.
Expansion shift(Builder& b, const Call& call, std::int64_t odd) {
  const Value x = signal_of(b, call);
  Dims dims = call.given("dim") ? call.integers("dim") : Dims();
  if (!call.given("dim"))
    for (std::int64_t d = 0; d < x.rank(); ++d) dims.push_back(d);
  Dims by;
  for (const std::int64_t dim : dims) by.push_back((x.size(dim) + odd) / 2);
  return b(Op::roll, {x, by, dims});
}
Expansion fftshift(Builder& b, const Call& call) { return shift(b, call, 0); }
Expansion ifftshift(Builder& b, const Call& call) { return shift(b, call, 1); }

// Short times
// -----------

struct ShortTimes {
  std::int64_t length = 0, hop = 0;  // of a frame, and from frame to frame
  Value window;                      // invalid: all ones
};

// None if the window's length doesn't fit.
std::optional<ShortTimes> short_times(Builder& b, const Call& call) {
  ShortTimes times;
  times.length = call.integer("n_fft");
  times.hop = call.given("hop_length") ? call.integer("hop_length") : times.length / 4;
  const std::int64_t wide = call.given("win_length") ? call.integer("win_length") : times.length;
  constexpr std::int64_t kMaxFrame = std::int64_t{1} << 40;
  if (times.length < 1 || times.length > kMaxFrame || times.hop < 1 || times.hop > kMaxFrame ||
      wide < 1 || wide > times.length)
    return std::nullopt;
  if (call.given("window")) {
    times.window = b.value(call.node("window"));
    if (times.window.rank() != 1 || times.window.size(0) != wide) return std::nullopt;
  } else if (wide < times.length) {
    times.window = b.full({wide}, 1.0, DType::f32);
  }
  const std::int64_t before = (times.length - wide) / 2;
  if (wide < times.length)
    times.window =
        b(Op::constant_pad_nd, {times.window, {before, times.length - wide - before}, 0.0});
  return times;
}

// Frames as rows, windowed and transformed; frequencies come before frames.
Value transformed_frames(Builder& b, const Call& call, const ShortTimes& times, Value signal) {
  Value frames = b(Op::unfold, {signal, -1, times.length, times.hop});
  if (times.window.valid()) frames = frames * times.window;
  const bool complex = is_complex(frames.dtype());
  const bool onesided = call.given("onesided") ? call.boolean("onesided") : !complex;
  const std::int64_t divisor = call.boolean("normalized") ? kRootDivisor : kNoDivisor;
  const Transform t{frames, {frames.rank() - 1}, divisor};
  const Value spectrum =
      complex ? complex_transform(b, t, true) : real_transform(b, t, true, onesided);
  return b.transpose(spectrum, -2, -1);
}

Expansion stft_of(Builder& b, const Call& call, bool center) {
  const auto times = short_times(b, call);
  Value x = signal_of(b, call);
  if (!times || x.rank() < 1 || x.rank() > 2) return Expansion::none();
  if (center) {
    const std::int64_t half = times->length / 2;
    const std::string_view mode = call.text("pad_mode");
    if (mode != "reflect" && mode != "constant") return Expansion::none();
    const Value rows = b.view(x, x.rank() == 1 ? Shape{1, x.size(0)} : x.shape());
    const Value padded = mode == "reflect" ? b(Op::reflection_pad1d, {rows, {half, half}})
                                           : b(Op::constant_pad_nd, {rows, {half, half}, 0.0});
    x = x.rank() == 1 ? b.view(padded, {padded.size(1)}) : padded;
  }
  if (x.size(-1) < times->length) return Expansion::none();
  const Value spectrum = transformed_frames(b, call, *times, x);
  return call.boolean("return_complex") ? spectrum : b(Op::view_as_real, {spectrum});
}
Expansion stft(Builder& b, const Call& call) { return stft_of(b, call, false); }
Expansion stft_center(Builder& b, const Call& call) {
  return stft_of(b, call, call.boolean("center"));
}

// The frames' inverse transforms, windowed and added where they overlap, over the sum of the
// squared windows there (Griffin and Lim 1984).
Expansion istft(Builder& b, const Call& call) {
  auto times = short_times(b, call);
  Value x = signal_of(b, call);
  if (!times || !is_complex(x.dtype()) || x.rank() < 2 || x.rank() > 3 ||
      call.boolean("return_complex"))
    return Expansion::none();
  // Frames that don't overlap leave gaps, whose values would be 0 over 0.
  if (times->hop > times->length) return Expansion::none();
  const bool one = x.rank() == 2;
  if (one) x = b(Op::unsqueeze, {x, 0});
  const std::int64_t length = times->length, count = x.size(2), batch = x.size(0);
  const bool onesided = call.given("onesided") ? call.boolean("onesided") : x.size(1) != length;
  const std::int64_t divisor = call.boolean("normalized") ? kRootDivisor : kLengthDivisor;
  const Transform t{b.transpose(x, 1, 2), {2}, divisor};
  if (!onesided) return Expansion::none();
  Value frames = inverse_to_real(b, t, false, length);
  if (!times->window.valid()) times->window = b.full({length}, 1.0, frames.dtype());
  const std::int64_t whole = length + times->hop * (count - 1);
  const auto overlapped = [&](const Value& parts) {
    return b(Op::unfold_backward, {parts, {parts.size(0), whole}, 1, length, times->hop});
  };
  const Value squares = b.expand(b(Op::square, {times->window}), {1, count, length});
  const std::int64_t start = call.boolean("center") ? length / 2 : 0;
  std::int64_t end = call.boolean("center") ? whole - length / 2 : whole;
  constexpr std::int64_t kMaxSignal = std::int64_t{1} << 60;
  if (call.given("length"))
    end = start + std::clamp<std::int64_t>(call.integer("length"), 0, kMaxSignal);
  const auto cut = [&](const Value& all) {
    return b(Op::slice_Tensor, {all, 1, start, std::min(end, whole)});
  };
  Value y = cut(overlapped(frames * times->window)) / cut(overlapped(squares));
  if (end > whole) y = b(Op::constant_pad_nd, {y, {0, end - whole}, 0.0});
  return one ? b.view(y, {y.size(1)}) : b.view(y, {batch, y.size(1)});
}

}  // namespace

std::vector<CompositeRow> fourier_composites() {
  return {
      {"aten::fft_fft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
       fft<true>},
      {"aten::fft_ifft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
       fft<false>},
      {"aten::fft_rfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
       half_of_real<true>},
      {"aten::fft_ihfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
       half_of_real<false>},
      {"aten::fft_irfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
       real_of_half<false>},
      {"aten::fft_hfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
       real_of_half<true>},
      {"aten::fft_fft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> "
       "Tensor",
       fftn<true>},
      {"aten::fft_ifft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> "
       "Tensor",
       fftn<false>},
      {"aten::fft_rfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> "
       "Tensor",
       rfftn},
      {"aten::fft_irfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> "
       "Tensor",
       irfftn},
      {"aten::fft_hfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> "
       "Tensor",
       hfftn},
      {"aten::fft_ihfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> "
       "Tensor",
       ihfftn},
      {"aten::fft_fftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
       fftn<true>},
      {"aten::fft_ifftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
       "Tensor",
       fftn<false>},
      {"aten::fft_rfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
       "Tensor",
       rfftn},
      {"aten::fft_irfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
       "Tensor",
       irfftn},
      {"aten::fft_hfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
       "Tensor",
       hfftn},
      {"aten::fft_ihfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
       "Tensor",
       ihfftn},
      {"aten::fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor", fftshift},
      {"aten::fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor", ifftshift},
  };
}

std::vector<CompositeRow> short_time_composites() {
  return {
      {"aten::stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
       "window=None, bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? "
       "align_to_window=None) -> Tensor",
       stft},
      {"aten::stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
       "Tensor? window=None, bool center=True, str pad_mode='reflect', bool normalized=False, "
       "bool? "
       "onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor",
       stft_center},
      {"aten::istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
       "window=None, bool center=True, bool normalized=False, bool? onesided=None, int? "
       "length=None, bool return_complex=False) -> Tensor",
       istft},
  };
}

}  // namespace recut

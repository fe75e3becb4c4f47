// Complex numbers: their parts, Fourier transforms, and the rules of real numbers that hold for
// them.
//
// The gradient of a complex value z = x + iy is gx + i gy, PyTorch's convention. For it the VJP of a
// linear operator is its conjugate transpose, and that of a complex-differentiable function f is
// the gradient times conj(f').
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

Value conjugate(const Value& z) {
  return z.valid() && is_complex(z.dtype()) ? unary(Op::_conj_physical, z) : z;
}
Value real_part(const Value& z) {
  return z.valid() ? z.builder()->convert(z, real_of(z.dtype())) : z;
}
Value imaginary_part(const Value& z) {
  if (!z.valid()) return z;
  return (*z.builder())(Op::select_int, {unary(Op::view_as_real, z), -1, 1});
}

// z turned by a right angle: i z.
Value turned(const Value& z) {
  if (!z.valid()) return z;
  Builder& b = *z.builder();
  const DType part = real_of(z.dtype());
  const Value i =
      b(Op::complex, {b.full({}, 0, part, z.type().device), b.full({}, 1, part, z.type().device)});
  return i * z;
}

// Real numbers have only the angles 0 and pi.
Value angle(VjpContext& ctx) {
  const Value z = ctx["self"];
  if (!z.valid() || !is_complex(z.dtype())) return {};
  const Value square = squared(unary(Op::abs, z));
  const Value slope = turned(z * (ctx.grad() / square));
  return zero_where(ctx.b(Op::eq_Scalar, {square, 0}), slope);
}

// The part of the gradient along the circle, over the radius. The sign of real numbers is constant.
Value sign(VjpContext& ctx) {
  const Value z = ctx["self"];
  if (!z.valid() || !is_complex(z.dtype())) return {};
  const Value radius = unary(Op::abs, z), direction = ctx.out();
  const Value outwards = real_part(conjugate(direction) * ctx.grad());
  const Value along = (ctx.grad() - direction * outwards) / radius;
  return zero_where(ctx.b(Op::eq_Scalar, {radius, 0}), along);
}

Value polar_magnitude(VjpContext& ctx) {
  const Value magnitude = ctx["abs"];
  const Value ones = filled(magnitude, 1);
  return real_part(conjugate(ctx.b(Op::polar, {ones, ctx["angle"]})) * ctx.grad());
}
Value polar_angle(VjpContext& ctx) { return real_part(conjugate(turned(ctx.out())) * ctx.grad()); }

Value transform_back(VjpContext& ctx) {
  return ctx.b(Op::_fft_c2c,
               {ctx.grad(), ctx.given("dim"), ctx.given("normalization"), !ctx.boolean("forward")});
}

// The one of the transformed dimensions that is halved.
std::int64_t last_dimension(VjpContext& ctx, std::int64_t rank) {
  const std::int64_t d = ctx.integers("dim").back();
  return d < 0 ? d + rank : d;
}

// The half of the spectrum that the operator drops has no gradient.
Value real_signal(VjpContext& ctx) {
  const Value x = ctx["self"];
  const std::int64_t last = last_dimension(ctx, x.rank());
  const std::int64_t kept = ctx.grad().size(last);
  const Value spectrum = kept == x.size(last)
                             ? ctx.grad()
                             : ctx.b(Op::slice_backward, {ctx.grad(), x.shape(), last, 0, kept, 1});
  return real_part(
      ctx.b(Op::_fft_c2c, {spectrum, ctx.given("dim"), ctx.given("normalization"), false}));
}

// The numbers that stand for two of the whole spectrum count twice. The operand may be longer than
// the half that is read.
Value half_spectrum(VjpContext& ctx) {
  const Value x = ctx["self"];
  const std::int64_t last = last_dimension(ctx, x.rank());
  const std::int64_t length = ctx.grad().size(last), read = length / 2 + 1;
  const Value half =
      ctx.b(Op::_fft_r2c, {ctx.grad(), ctx.given("dim"), ctx.given("normalization"), true});
  Value gradient = half;
  if (const std::int64_t end = 1 + length - read; end > 1) {
    const Value twice = ctx.b(Op::slice_Tensor, {half, last, 1, end}) * 2;
    gradient = ctx.b(Op::slice_scatter, {half, twice, last, 1, end});
  }
  if (read == x.size(last)) return gradient;
  return ctx.b(Op::slice_backward, {gradient, x.shape(), last, 0, read, 1});
}

DerivativeRules parts() {
  return {
      linear({Op::view_as_real, Op::view_as_real_copy},
             {{"self", [](VjpContext& ctx) { return unary(Op::view_as_complex, ctx.grad()); }}}),
      linear({Op::view_as_complex, Op::view_as_complex_copy},
             {{"self", [](VjpContext& ctx) { return unary(Op::view_as_real, ctx.grad()); }}}),
      linear({Op::_conj, Op::_conj_copy, Op::_conj_physical, Op::conj_physical},
             {{"self", [](VjpContext& ctx) { return conjugate(ctx.grad()); }}}),
      vjp({Op::complex}, {{"real", [](VjpContext& ctx) { return real_part(ctx.grad()); }},
                          {"imag", [](VjpContext& ctx) { return imaginary_part(ctx.grad()); }}}),
      vjp({Op::polar}, {{"abs", polar_magnitude}, {"angle", polar_angle}}),
      elementwise({Op::angle}, {{"self", angle}}),
      elementwise({Op::sgn}, {{"self", sign}}),
  };
}

DerivativeRules transforms() {
  return {
      linear({Op::_fft_c2c}, {{"self", transform_back}}),
      linear({Op::_fft_r2c}, {{"self", real_signal}}),
      linear({Op::_fft_c2r}, {{"self", half_spectrum}}),
  };
}

}  // namespace

DerivativeRules complex_rules() {
  DerivativeRules rows = parts();
  for (DerivativeRule& row : transforms()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff

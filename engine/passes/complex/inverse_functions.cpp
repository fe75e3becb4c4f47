// Inverse trigonometric and hyperbolic functions of complex numbers by their parts, after W. Kahan,
// "Branch cuts for complex elementary functions" (1987): roots of 1 - z and 1 + z, whose products
// don't cancel. Zeros keep their signs, which choose the side of a branch cut. Beyond a size where
// 1 + z^2 is z^2 to the last bit, and for infinities, the functions come from log(2|z|) and angles.
#include "engine/passes/complex/function_parts.h"
#include "engine/support/constants.h"

namespace recut::complex_parts {
namespace {

constexpr double kLogOf4 = 1.38629436111989061883;

Value flipped_sign(CallParts& c, const Value& size, const Value& sign) {
  return -c.b(Op::copysign_Tensor, {size, sign});
}

// log(2|z|), without overflow.
Value log_of_twice(CallParts& c, const Tensors& z) {
  return c.b(Op::log, {c.b(Op::hypot, {z.re * 0.5, z.im * 0.5})}) + kLogOf4;
}

Value is_larger(CallParts& c, const Value& size, double in_f32, double in_f64) {
  return c.b(Op::gt_Scalar, {size, c.dtype() == DType::f64 ? in_f64 : in_f32});
}

Value is_large(CallParts& c, const Tensors& z) {
  return is_larger(c, c.b(Op::hypot, {z.re, z.im}), 0x1p13, 0x1p27);
}

// The roots of 1 - z and of 1 + z.
struct BothRoots {
  Tensors minus, plus;
};
BothRoots both_roots(CallParts& c, const Tensors& z) {
  return {root(c, Tensors{1.0 - z.re, -z.im}), root(c, Tensors{z.re + 1.0, z.im})};
}

Tensors arc_sine(CallParts& c, const Tensors& z) {
  const auto [a, b] = both_roots(c, z);
  const Value large = is_large(c, z);
  const Value re = c.b.where(large, c.b(Op::abs, {z.im}), a.re * b.re - a.im * b.im);
  const Value im = c.b(Op::asinh, {a.re * b.im - a.im * b.re});
  const Value far = c.b(Op::copysign_Tensor, {log_of_twice(c, z), z.im});
  return {c.b(Op::atan2, {z.re, re}), c.b.where(large, far, im)};
}

Tensors arc_cosine(CallParts& c, const Tensors& z) {
  const auto [a, b] = both_roots(c, z);
  const Value large = is_large(c, z);
  const Value re = c.b(Op::atan2, {a.re, b.re}) * 2.0;
  const Value im = c.b(Op::asinh, {b.re * a.im - b.im * a.re});
  const Value far = c.b(Op::atan2, {c.b(Op::abs, {z.im}), z.re});
  return {c.b.where(large, far, re),
          c.b.where(large, flipped_sign(c, log_of_twice(c, z), z.im), im)};
}

// The distances of |re| to -1 and 1 give the real part; they tell it apart from 0 and near 1.
Value area_tangent_re(CallParts& c, const Tensors& z, const Value& distance) {
  const Value x = c.b(Op::abs, {z.re});
  const Value near = c.b(Op::log, {c.b(Op::hypot, {x + 1.0, z.im}) / distance}) * 0.5;
  const Value far = c.b(Op::log1p, {x * 4.0 / distance / distance}) * 0.25;
  const Value none = c.b(Op::isinf, {distance});
  const Value size = c.b.where(c.b(Op::lt_Scalar, {distance, 0.5}), near,
                               c.b(Op::where_ScalarSelf, {none, 0.0, far}));
  return c.b(Op::copysign_Tensor, {size, z.re});
}

Tensors area_tangent(CallParts& c, const Tensors& z) {
  const Value x = c.b(Op::abs, {z.re});
  const Value distance = c.b(Op::hypot, {1.0 - x, z.im});
  const Value across = (1.0 - x) * (x + 1.0) - z.im * z.im;
  const Value angle = c.b(Op::atan2, {z.im * 2.0, across}) * 0.5;
  const Value right =
      c.b(Op::where_ScalarSelf, {is_larger(c, distance, 0x1p26, 0x1p54), kPi / 2, angle});
  return {area_tangent_re(c, z, distance), c.b(Op::copysign_Tensor, {right, z.im})};
}

// -i f(iz), of an odd f.
template <class F>
Parts turned(CallParts& c, const F& f) {
  const auto [x, y] = tensors(c, c[0]);
  const Tensors of = f(c, Tensors{-y, x});
  return {of.im, -of.re};
}

MaybeParts asin(CallParts& c) {
  const Tensors of = arc_sine(c, tensors(c, c[0]));
  return Parts{of.re, of.im};
}
MaybeParts acos(CallParts& c) {
  const Tensors of = arc_cosine(c, tensors(c, c[0]));
  return Parts{of.re, of.im};
}
MaybeParts atanh(CallParts& c) {
  const Tensors of = area_tangent(c, tensors(c, c[0]));
  return Parts{of.re, of.im};
}
MaybeParts asinh(CallParts& c) { return turned(c, arc_sine); }
MaybeParts atan(CallParts& c) { return turned(c, area_tangent); }

// i acos(z) or -i acos(z), of which the real part is at least 0.
MaybeParts acosh(CallParts& c) {
  const Tensors z = tensors(c, c[0]), of = arc_cosine(c, z);
  return Parts{c.b(Op::abs, {of.im}), c.b(Op::copysign_Tensor, {of.re, z.im})};
}

}  // namespace

void add_inverse_functions(PartRules& rules) {
  rules.set(Op::asin, asin);
  rules.set(Op::acos, acos);
  rules.set(Op::atan, atan);
  rules.set(Op::asinh, asinh);
  rules.set(Op::acosh, acosh);
  rules.set(Op::atanh, atanh);
}

}  // namespace recut::complex_parts

// Exponentials, logarithms, roots, powers and trigonometry of complex numbers by their parts. The
// branch cuts are those of C's library, which are PyTorch's.
#include <cmath>

#include "engine/passes/complex/function_parts.h"
#include "engine/support/constants.h"

namespace recut::complex_parts {

Tensors tensors(CallParts& c, const Parts& x) {
  const auto tensor = [&](const Part& part) {
    return part.filled(c.b, c.dtype(), c.out.shape, c.out.device);
  };
  return {tensor(x.re), tensor(x.im)};
}

Value where_zero(CallParts& c, const Value& tested, const Value& x, const Value& y) {
  return c.b.where(c.b(Op::eq_Scalar, {tested, 0.0}), x, y);
}

// The root comes from the sum of |x| and |re|, which doesn't cancel.
Tensors root(CallParts& c, const Tensors& x) {
  const auto& [re, im] = x;
  const Value size = c.b(Op::hypot, {re, im});
  const Value larger = c.b(Op::sqrt, {size * 0.5 + c.b(Op::abs, {re}) * 0.5});
  const Value other = where_zero(c, larger, im, im / (larger * 2.0));
  const Value right = c.b(Op::ge_Scalar, {re, 0.0});
  return {c.b.where(right, larger, c.b(Op::abs, {other})),
          c.b.where(right, other, c.b(Op::copysign_Tensor, {larger, im}))};
}

namespace {

constexpr double kLogOf2 = 0.69314718055994530942, kLogOf10 = 2.30258509299404568402;

// A real number stays real even where its exponential is infinite.
Parts exponential(CallParts& c, const Parts& x) {
  if (x.is_real()) return {applied(Op::exp, x.re, std::exp), {}};
  const auto [re, im] = tensors(c, x);
  const Value radius = c.b(Op::exp, {re});
  return {radius * c.b(Op::cos, {im}), where_zero(c, im, im, radius * c.b(Op::sin, {im}))};
}

Parts logarithm(CallParts& c, const Parts& x) {
  const auto [re, im] = tensors(c, x);
  return {c.b(Op::log, {c.b(Op::hypot, {re, im})}), c.b(Op::atan2, {im, re})};
}

Parts root(CallParts& c, const Parts& x) {
  const Tensors of = root(c, tensors(c, x));
  return {of.re, of.im};
}

// x^n for a whole n >= 1, by squaring.
Parts whole_power(Parts x, int n) {
  Parts power;
  bool begun = false;
  for (; n > 0; n /= 2, x = n > 0 ? x * x : x) {
    if (n % 2 == 0) continue;
    power = begun ? power * x : x;
    begun = true;
  }
  return power;
}

Value size_of(CallParts& c, const Tensors& x) { return c.b(Op::hypot, {x.re, x.im}); }

// exp(e log x), and 0^e = 0.
Parts general_power(CallParts& c, const Parts& x, const Parts& e) {
  const Tensors to = tensors(c, exponential(c, e * logarithm(c, x)));
  const Value size = size_of(c, tensors(c, x));
  return {where_zero(c, size, size, to.re), where_zero(c, size, size, to.im)};
}

// The same for exponents of any sign: 0^e = 0 where the real part of e is positive, and x^0 = 1.
Parts any_power(CallParts& c, const Parts& x, const Parts& e) {
  const Tensors to = tensors(c, exponential(c, e * logarithm(c, x))), by = tensors(c, e);
  const Value base = size_of(c, tensors(c, x)), exponent = size_of(c, by);
  const Value vanishes =
      c.b(Op::logical_and, {c.b(Op::eq_Scalar, {base, 0.0}), c.b(Op::gt_Scalar, {by.re, 0.0})});
  const Value is_one = c.b(Op::eq_Scalar, {exponent, 0.0});
  const Value re = c.b.where(vanishes, base, to.re), im = c.b.where(vanishes, base, to.im);
  return {c.b(Op::where_ScalarSelf, {is_one, 1.0, re}), c.b.where(is_one, exponent, im)};
}

MaybeParts power(CallParts& c, const Parts& x, double e) {
  constexpr double kLargest = 64;
  if (e == 0) return Parts{1.0, {}};
  if (e == 0.5) return root(c, x);
  if (e == std::floor(e) && std::abs(e) <= kLargest) {
    const Parts of_size = whole_power(x, static_cast<int>(std::abs(e)));
    return e > 0 ? of_size : Parts{1.0, {}} / of_size;
  }
  if (!(e > 0)) return std::nullopt;
  return general_power(c, x, {e, {}});
}

MaybeParts power_by_number(CallParts& c) {
  const auto given = Scalar::from(c.call.argument("exponent"));
  if (!given) return any_power(c, c["self"], c["exponent"]);
  return power(c, c["self"], given->real);
}

MaybeParts power_of_number(CallParts& c) {
  const auto given = Scalar::from(c.call.argument("self"));
  if (given && given->real > 0) return exponential(c, c["exponent"] * std::log(given->real));
  return any_power(c, c["self"], c["exponent"]);
}

MaybeParts exp(CallParts& c) { return exponential(c, c[0]); }
MaybeParts exp2(CallParts& c) { return exponential(c, c[0] * kLogOf2); }
MaybeParts log(CallParts& c) { return logarithm(c, c[0]); }
MaybeParts log2(CallParts& c) { return logarithm(c, c[0]) * (1 / kLogOf2); }
MaybeParts log10(CallParts& c) { return logarithm(c, c[0]) * (1 / kLogOf10); }
MaybeParts sqrt(CallParts& c) { return root(c, c[0]); }
MaybeParts rsqrt(CallParts& c) { return Parts{1.0, {}} / root(c, c[0]); }
MaybeParts sigmoid(CallParts& c) {
  return Parts{1.0, {}} / (Parts{1.0, {}} + exponential(c, -c[0]));
}
MaybeParts silu(CallParts& c) { return c[0] / (Parts{1.0, {}} + exponential(c, -c[0])); }
MaybeParts sigmoid_backward(CallParts& c) {
  const Parts y = c["output"];
  return c["grad_output"] * conjugate((Parts{1.0, {}} - y) * y);
}
MaybeParts tanh_backward(CallParts& c) {
  const Parts y = c["output"];
  return c["grad_output"] * conjugate(Parts{1.0, {}} - y * y);
}

// (exp(x) - 1) cos(y) + (cos(y) - 1) + i exp(x) sin(y): nothing cancels near 0.
MaybeParts expm1(CallParts& c) {
  const auto [x, y] = tensors(c, c[0]);
  const Value half = c.b(Op::sin, {y * 0.5});
  const Value im = c.b(Op::exp, {x}) * c.b(Op::sin, {y});
  return Parts{c.b(Op::expm1, {x}) * c.b(Op::cos, {y}) - half * half * 2.0,
               where_zero(c, y, y, im)};
}

// Near 0 by |1 + z|^2 = 1 + r.
MaybeParts log1p(CallParts& c) {
  const auto [x, y] = tensors(c, c[0]);
  const Value r = x * (x + 2.0) + y * y;
  const Value near = where_zero(c, r, x, c.b(Op::log1p, {r}) * 0.5);
  const Value far = c.b(Op::log, {c.b(Op::hypot, {x + 1.0, y})});
  const Value is_near = c.b(Op::lt_Scalar, {c.b(Op::hypot, {x, y}), 0.5});
  return Parts{c.b.where(is_near, near, far), c.b(Op::atan2, {y, x + 1.0})};
}

// Trigonometry
// ------------

MaybeParts sin(CallParts& c) {
  const auto [x, y] = tensors(c, c[0]);
  return Parts{c.b(Op::sin, {x}) * c.b(Op::cosh, {y}), c.b(Op::cos, {x}) * c.b(Op::sinh, {y})};
}
// sin(pi z) / (pi z), and 1 at 0.
MaybeParts sinc(CallParts& c) {
  const Parts z = c[0] * kPi;
  const auto [x, y] = tensors(c, z);
  const Parts sine{c.b(Op::sin, {x}) * c.b(Op::cosh, {y}), c.b(Op::cos, {x}) * c.b(Op::sinh, {y})};
  const Tensors ratio = tensors(c, sine / Parts{x, y});
  const Value size = c.b(Op::hypot, {x, y});
  const Value at_zero = c.b(Op::eq_Scalar, {size, 0.0});
  return Parts{c.b(Op::where_ScalarSelf, {at_zero, 1.0, ratio.re}),
               c.b.where(at_zero, size, ratio.im)};
}
MaybeParts cos(CallParts& c) {
  const auto [x, y] = tensors(c, c[0]);
  return Parts{c.b(Op::cos, {x}) * c.b(Op::cosh, {y}), -(c.b(Op::sin, {x}) * c.b(Op::sinh, {y}))};
}
MaybeParts sinh(CallParts& c) {
  const auto [x, y] = tensors(c, c[0]);
  return Parts{c.b(Op::sinh, {x}) * c.b(Op::cos, {y}), c.b(Op::cosh, {x}) * c.b(Op::sin, {y})};
}
MaybeParts cosh(CallParts& c) {
  const auto [x, y] = tensors(c, c[0]);
  return Parts{c.b(Op::cosh, {x}) * c.b(Op::cos, {y}), c.b(Op::sinh, {x}) * c.b(Op::sin, {y})};
}

// tanh(x + iy) by t = tanh(x) and u = tan(y), since products of cosh would overflow:
// (t (1 + u^2) + i u / cosh(x)^2) / (1 + t^2 u^2).
Tensors hyperbolic_tangent(CallParts& c, const Value& x, const Value& y) {
  const Value t = c.b(Op::tanh, {x}), u = c.b(Op::tan, {y});
  const Value over = t * t * (u * u) + 1.0, narrow = 1.0 / c.b(Op::cosh, {x});
  return {t * (u * u + 1.0) / over, u * (narrow * narrow) / over};
}
MaybeParts tanh(CallParts& c) {
  const auto [x, y] = tensors(c, c[0]);
  const Tensors t = hyperbolic_tangent(c, x, y);
  return Parts{t.re, t.im};
}
// tan(z) = -i tanh(iz).
MaybeParts tan(CallParts& c) {
  const auto [x, y] = tensors(c, c[0]);
  const Tensors t = hyperbolic_tangent(c, -y, x);
  return Parts{t.im, -t.re};
}

}  // namespace

void add_functions(PartRules& rules) {
  rules.set(Op::exp, exp);
  rules.set(Op::exp2, exp2);
  rules.set(Op::log, log);
  rules.set(Op::log2, log2);
  rules.set(Op::log10, log10);
  rules.set(Op::sqrt, sqrt);
  rules.set(Op::rsqrt, rsqrt);
  rules.set(Op::expm1, expm1);
  rules.set(Op::log1p, log1p);
  rules.set(Op::sigmoid, sigmoid);
  rules.set(Op::sigmoid_backward, sigmoid_backward);
  rules.set(Op::silu, silu);
  for (const Op op : {Op::pow_Tensor_Scalar, Op::pow_Tensor_Tensor, Op::float_power_Tensor_Scalar,
                      Op::float_power_Tensor_Tensor})
    rules.set(op, power_by_number);
  for (const Op op : {Op::pow_Scalar, Op::float_power_Scalar}) rules.set(op, power_of_number);
  rules.set(Op::sin, sin);
  rules.set(Op::cos, cos);
  rules.set(Op::tan, tan);
  rules.set(Op::sinh, sinh);
  rules.set(Op::cosh, cosh);
  rules.set(Op::tanh, tanh);
  rules.set(Op::tanh_backward, tanh_backward);
  rules.set(Op::sinc, sinc);
}

}  // namespace recut::complex_parts

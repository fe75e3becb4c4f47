#include "engine/passes/complex/parts.h"

#include <cmath>

#include "engine/support/constants.h"

namespace recut::complex_parts {
namespace {

// x where the condition holds, else y; both are of one dtype.
Value chosen(Builder& b, const Value& condition, const Part& x, const Part& y) {
  if (x.is_tensor() && y.is_tensor()) return b.where(condition, x.tensor(), y.tensor());
  if (x.is_tensor()) return b(Op::where_ScalarOther, {condition, x.tensor(), y.number()});
  return b(Op::where_ScalarSelf, {condition, x.number(), y.tensor()});
}

Value tensor_of(const Part& a, const Value& like) {
  return a.is_tensor() ? a.tensor()
                       : a.filled(*like.builder(), like.dtype(), {}, like.type().device);
}

}  // namespace

Value Part::filled(Builder& b, DType dtype, const Shape& shape, const std::string& device) const {
  if (!is_tensor()) return b.full(shape, number_, dtype, device);
  return b.expand(b.convert(tensor_, dtype), shape);
}

Part operator+(const Part& a, const Part& b) {
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  if (!a.is_tensor() && !b.is_tensor()) return a.number() + b.number();
  if (!b.is_tensor()) return a.tensor() + b.number();
  return a.is_tensor() ? a.tensor() + b.tensor() : b.tensor() + a.number();
}

Part operator-(const Part& a) {
  if (a.is(0)) return a;
  return a.is_tensor() ? Part(-a.tensor()) : Part(-a.number());
}

Part operator-(const Part& a, const Part& b) {
  if (!b.is_tensor()) return a + Part(-b.number());
  if (a.is(0)) return -b;
  return a.is_tensor() ? a.tensor() - b.tensor() : a.number() - b.tensor();
}

Part operator*(const Part& a, const Part& b) {
  if (a.is(0) || b.is(0)) return {};
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  if (!a.is_tensor() && !b.is_tensor()) return a.number() * b.number();
  if (!b.is_tensor()) return a.tensor() * b.number();
  return a.is_tensor() ? a.tensor() * b.tensor() : b.tensor() * a.number();
}

Part operator/(const Part& a, const Part& b) {
  if (a.is(0) || b.is(1)) return a;
  if (!a.is_tensor() && !b.is_tensor()) return a.number() / b.number();
  if (!b.is_tensor()) return a.tensor() / b.number();
  return a.is_tensor() ? a.tensor() / b.tensor() : a.number() / b.tensor();
}

Part applied(Op op, const Part& a, double (*of_number)(double)) {
  if (!a.is_tensor()) return of_number(a.number());
  return (*a.tensor().builder())(op, {a.tensor()});
}

Parts operator+(const Parts& a, const Parts& b) { return {a.re + b.re, a.im + b.im}; }
Parts operator-(const Parts& a, const Parts& b) { return {a.re - b.re, a.im - b.im}; }
Parts operator-(const Parts& a) { return {-a.re, -a.im}; }
Parts conjugate(const Parts& a) { return {a.re, -a.im}; }

Parts operator*(const Parts& a, const Parts& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
Parts operator*(const Parts& a, double b) { return {a.re * Part(b), a.im * Part(b)}; }

// The larger part of b divides both. Zero divides each part of a.
Parts operator/(const Parts& a, const Parts& b) {
  if (b.is_real() && b.re.is_tensor()) {
    const Value& c = b.re.tensor();  // which may be 0, and divides 0, too
    return {tensor_of(a.re, c) / c, tensor_of(a.im, c) / c};
  }
  if (b.is_real()) return {a.re / b.re, a.im / b.re};
  const Value some = b.im.is_tensor() ? b.im.tensor() : b.re.tensor();
  Builder& make = *some.builder();
  const Value c = tensor_of(b.re, some), d = tensor_of(b.im, some);
  const Value real = make(Op::ge_Tensor, {make(Op::abs, {c}), make(Op::abs, {d})});
  const Value large = make.where(real, c, d), small = make.where(real, d, c);
  const Value ratio = chosen(make, make(Op::eq_Scalar, {large, 0.0}), Part(0.0), small / large);
  const Part scale = 1.0 / (large + small * ratio);
  const Value x = tensor_of(a.re, some), y = tensor_of(a.im, some);
  const Value re = make.where(real, x + y * ratio, x * ratio + y);
  const Value im = make.where(real, y - x * ratio, y * ratio - x);
  return {Part(re) * scale, Part(im) * scale};
}

Part magnitude(const Parts& a) {
  if (a.is_real()) return applied(Op::abs, a.re, std::fabs);
  if (a.re.is(0)) return applied(Op::abs, a.im, std::fabs);
  if (!a.re.is_tensor() && !a.im.is_tensor()) return std::hypot(a.re.number(), a.im.number());
  const Value some = a.im.is_tensor() ? a.im.tensor() : a.re.tensor();
  return (*some.builder())(Op::hypot, {tensor_of(a.re, some), tensor_of(a.im, some)});
}

Part angle(const Parts& a) {
  const Value some = a.im.is_tensor() ? a.im.tensor() : a.re.tensor();
  if (!some.valid()) return std::atan2(a.im.number(), a.re.number());
  return (*some.builder())(Op::atan2, {tensor_of(a.im, some), tensor_of(a.re, some)});
}

}  // namespace recut::complex_parts

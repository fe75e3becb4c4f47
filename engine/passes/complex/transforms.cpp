// Fourier transforms as products by matrices of roots of unity.
//
//   n <= 64    X = x W_n, one product
//   n = a b    Cooley and Tukey: x as [a, b] = j1, j2. Transforms of length a over j1, a factor
//              exp(-2πi j2 k1 / n), transforms of length b over j2, and the index k1 + a k2.
//
// A length of 1024 takes 2 * 32 products an element instead of 1024. Roots are computed in f64 by
// the graph itself, from indices reduced modulo n.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/passes/complex/call_parts.h"
#include "engine/support/constants.h"

namespace recut::complex_parts {
namespace {

constexpr std::int64_t kDirect = 64;          // the longest transform that isn't split
constexpr std::int64_t kLongestPrime = 2048;  // its matrix has a few million elements

// The divisor of n from 2 to kDirect that is nearest to the root of n; 1 if there is none.
std::int64_t balanced_divisor(std::int64_t n) {
  const double root = std::sqrt(static_cast<double>(n));
  std::int64_t found = 1;
  for (std::int64_t d = 2; d <= kDirect && d < n; ++d)
    if (n % d == 0 && (found == 1 || std::abs(std::log(static_cast<double>(d) / root)) <
                                         std::abs(std::log(static_cast<double>(found) / root))))
      found = d;
  return found;
}

bool is_feasible(std::int64_t n) {
  while (n > kLongestPrime) {
    const std::int64_t d = balanced_divisor(n);
    if (d == 1) return false;
    n /= d;
  }
  return true;
}

// Transforms along the last dimension of matrices.
class Transform {
 public:
  Transform(Builder& builder, DType dtype, std::string device, bool inverse)
      : b_(builder), dtype_(dtype), device_(std::move(device)), sign_(inverse ? 1 : -1) {}

  // x is [rows, n], as is the result.
  Parts rows_of(const Parts& x, std::int64_t rows, std::int64_t n) const {
    if (n == 1) return x;
    const std::int64_t a = n <= kDirect ? 1 : balanced_divisor(n);
    if (a == 1)
      return product(x, roots(n, n, n),
                     [&](const Value& part, const Value& matrix) { return b_.mm(part, matrix); });
    return split(x, rows, a, n / a);
  }

 private:
  // sign * exp(...) of j k / n for j below `height` and k below `width`.
  struct Roots {
    Value cos, sin;
  };

  Parts split(const Parts& x, std::int64_t rows, std::int64_t a, std::int64_t b) const {
    const std::int64_t n = a * b;
    const Parts boxes = shaped(x, {rows, a, b});
    const Roots first = roots(a, a, a), turn = roots(a, b, n);
    const Parts columns = product(boxes, first, [&](const Value& part, const Value& matrix) {
      return b_(Op::bmm, {b_.expand(b_(Op::unsqueeze, {matrix, 0}), {rows, a, a}), part});
    });
    const Parts turned = columns * Parts{turn.cos, turn.sin};
    const Parts lines = rows_of(shaped(turned, {rows * a, b}), rows * a, b);
    return shaped(permuted(shaped(lines, {rows, a, b}), {0, 2, 1}), {rows, n});
  }

  template <class Multiply>
  Parts product(const Parts& x, const Roots& w, const Multiply& multiply) const {
    const auto part = [&](const Part& p, const Value& matrix) {  // a number is 0 here
      return p.is_tensor() ? Part(multiply(p.tensor(), matrix)) : Part();
    };
    return {part(x.re, w.cos) - part(x.im, w.sin), part(x.re, w.sin) + part(x.im, w.cos)};
  }

  Roots roots(std::int64_t height, std::int64_t width, std::int64_t n) const {
    const Value j = b_(Op::unsqueeze, {indices(height), 1});
    const Value turns = b_(Op::remainder_Scalar, {j * indices(width), n});
    const Value angles = b_.convert(turns, DType::f64) * (2 * kPi / static_cast<double>(n));
    const Value sines = b_(Op::sin, {angles});
    return {b_.convert(b_(Op::cos, {angles}), dtype_),
            b_.convert(sign_ > 0 ? sines : -sines, dtype_)};
  }

  Value indices(std::int64_t n) const {
    Keywords keywords = {{"dtype", DType::i64}};
    if (!device_.empty()) keywords.emplace_back("device", device_);
    return b_(Op::arange, {n}, keywords);
  }

  Parts shaped(const Parts& x, const Shape& shape) const {
    return of_tensors(x, [&](const Value& part) { return b_.view(part, shape); });
  }
  Parts permuted(const Parts& x, const std::vector<std::int64_t>& dims) const {
    return of_tensors(x, [&](const Value& part) { return b_.permute(part, dims); });
  }

  Builder& b_;
  const DType dtype_;
  const std::string device_;
  const int sign_;
};

// The transforms of one call, a dimension at a time.
class TransformCall {
 public:
  TransformCall(CallParts& c, bool inverse)
      : c_(c),
        shape_(c.call.tensor("self").shape),
        x_(c["self"]),
        transform_(c.b, c.dtype(), c.out.device, inverse) {
    for (const std::int64_t d : c.call.integers("dim"))
      dims_.push_back(static_cast<std::size_t>(d < 0 ? d + c.call.tensor("self").rank() : d));
    const auto filled = [&](const Part& part) {
      return part.is(0) ? part : Part(part.filled(c.b, c.dtype(), shape_, c.out.device));
    };
    x_ = {filled(x_.re), filled(x_.im)};
  }

  const std::vector<std::size_t>& dims() const { return dims_; }
  bool is_empty() const { return element_count(c_.out.shape) == 0; }

  void run(std::size_t dim) {
    std::vector<std::int64_t> order(shape_.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::swap(order[dim], order.back());
    Shape moved = shape_;
    std::swap(moved[dim], moved.back());
    const std::int64_t n = moved.back(), rows = element_count(moved) / n;
    const auto in_order = [&](const Value& part) { return c_.b.permute(part, order); };
    const auto as_rows = [&](const Value& part) { return c_.b.view(part, {rows, n}); };
    const auto as_boxes = [&](const Value& part) { return c_.b.view(part, moved); };
    const bool last = dim + 1 == shape_.size();
    const Parts lines = last ? x_ : of_tensors(x_, in_order);
    const Parts spectra = transform_.rows_of(of_tensors(lines, as_rows), rows, n);
    x_ = of_tensors(spectra, as_boxes);
    if (!last) x_ = of_tensors(x_, in_order);
  }

  // The first elements of a dimension.
  void keep(std::size_t dim, std::int64_t length) {
    if (length == shape_[dim]) return;
    x_ = sliced(dim, 0, length);
    shape_[dim] = length;
  }

  // The half of a real signal's spectrum becomes the whole: x[n - k] is the conjugate of x[k].
  void complete(std::size_t dim, std::int64_t n) {
    const std::int64_t half = n / 2 + 1;
    keep(dim, half);
    if (n > half) {
      const Parts mirrored =
          conjugate(of_tensors(sliced(dim, 1, n - half + 1), [&](const Value& part) {
            return c_.b(Op::flip, {part, {static_cast<std::int64_t>(dim)}});
          }));
      const auto joined = [&](const Part& first, const Part& second) {
        if (!first.is_tensor()) return first;
        return Part(c_.b(Op::cat, {std::vector<Value>{first.tensor(), second.tensor()},
                                   static_cast<std::int64_t>(dim)}));
      };
      x_ = {joined(x_.re, mirrored.re), joined(x_.im, mirrored.im)};
    }
    shape_[dim] = n;
  }

  // normalization divides by the root of the signal's length (1) or by the length (2).
  Parts scaled(const Shape& signal) const {
    const std::int64_t mode = c_.call.integer("normalization");
    double length = 1;
    for (const std::size_t d : dims_) length *= static_cast<double>(signal[d]);
    if (mode == 0 || length == 1) return x_;
    return x_ * (1 / (mode == 1 ? std::sqrt(length) : length));
  }

 private:
  Parts sliced(std::size_t dim, std::int64_t start, std::int64_t end) const {
    return of_tensors(x_, [&](const Value& part) {
      return c_.b(Op::slice_Tensor, {part, static_cast<std::int64_t>(dim), start, end});
    });
  }

  CallParts& c_;
  Shape shape_;
  Parts x_;
  std::vector<std::size_t> dims_;
  Transform transform_;
};

// The file's types may not fit the call.
bool is_sound(const CallParts& c) {
  const auto types = infer_types(c.call.op(), c.call.arguments(),
                                 [&](NodeId operand) { return c.call.types(operand); });
  return types.ok() && types->front().shape == c.out.shape;
}

bool are_feasible(const TransformCall& call, const Shape& signal) {
  return std::all_of(call.dims().begin(), call.dims().end(),
                     [&](std::size_t d) { return is_feasible(signal[d]); });
}

MaybeParts complex_transform(CallParts& c) {
  if (!is_sound(c)) return std::nullopt;
  TransformCall call(c, !c.call.boolean("forward"));
  const Shape& signal = c.out.shape;
  if (call.is_empty()) return Parts{};
  if (!are_feasible(call, signal)) return std::nullopt;
  for (const std::size_t d : call.dims()) call.run(d);
  return call.scaled(signal);
}

// The half of the last dimension is cut before the others are transformed.
MaybeParts transform_of_real(CallParts& c) {
  if (!is_sound(c)) return std::nullopt;
  TransformCall call(c, false);
  const Shape& signal = c.call.tensor("self").shape;
  if (call.is_empty()) return Parts{};
  if (!are_feasible(call, signal)) return std::nullopt;
  const std::size_t last = call.dims().back();
  call.run(last);
  call.keep(last, c.out.shape[last]);
  for (std::size_t i = 0; i + 1 < call.dims().size(); ++i) call.run(call.dims()[i]);
  return call.scaled(signal);
}

MaybeParts transform_to_real(CallParts& c) {
  if (!is_sound(c)) return std::nullopt;
  TransformCall call(c, true);
  const Shape& signal = c.out.shape;
  if (call.is_empty()) return Parts{};
  if (!are_feasible(call, signal)) return std::nullopt;
  const std::size_t last = call.dims().back();
  call.keep(last, signal[last] / 2 + 1);
  for (std::size_t i = 0; i + 1 < call.dims().size(); ++i) call.run(call.dims()[i]);
  call.complete(last, signal[last]);
  call.run(last);
  return call.scaled(signal);
}

}  // namespace

void add_transforms(PartRules& rules) {
  rules.set(Op::_fft_c2c, complex_transform);
  rules.set(Op::_fft_r2c, transform_of_real);
  rules.set(Op::_fft_c2r, transform_to_real);
}

}  // namespace recut::complex_parts

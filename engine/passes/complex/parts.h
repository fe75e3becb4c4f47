// Complex values as two real ones, and their arithmetic: the basis of the pass complex_parts.
//
// A part is a tensor, or one number for all elements. So real values, whose imaginary part is 0,
// and complex ones with a real constant cost no more than real arithmetic.
#pragma once

#include "engine/ir/builder.h"

namespace recut::complex_parts {

class Part {
 public:
  Part() = default;                               // 0
  Part(double number) : number_(number) {}        // NOLINT: implicit, both of them
  Part(const Value& tensor) : tensor_(tensor) {}  // NOLINT

  bool is_tensor() const { return tensor_.valid(); }
  bool is(double number) const { return !is_tensor() && number_ == number; }
  const Value& tensor() const { return tensor_; }
  double number() const { return number_; }

  // The part as a tensor of this type; fewer dimensions are broadcast.
  Value filled(Builder& b, DType dtype, const Shape& shape, const std::string& device) const;

 private:
  Value tensor_;
  double number_ = 0;
};

Part operator+(const Part& a, const Part& b);
Part operator-(const Part& a, const Part& b);
Part operator-(const Part& a);
Part operator*(const Part& a, const Part& b);
Part operator/(const Part& a, const Part& b);

// An element-wise operator of one operand, and its function of a number.
Part applied(Op op, const Part& a, double (*of_number)(double));

struct Parts {
  Part re, im;

  bool is_real() const { return im.is(0); }
};

// f of each part that is a tensor; numbers stay.
template <class F>
Parts of_tensors(const Parts& a, const F& f) {
  const auto of = [&](const Part& part) {
    return part.is_tensor() ? Part(f(part.tensor())) : part;
  };
  return {of(a.re), of(a.im)};
}

Parts operator+(const Parts& a, const Parts& b);
Parts operator-(const Parts& a, const Parts& b);
Parts operator-(const Parts& a);
Parts operator*(const Parts& a, const Parts& b);
Parts operator*(const Parts& a, double b);
// By Smith's algorithm (Communications of the ACM 5, 1962): |b|^2 may overflow.
Parts operator/(const Parts& a, const Parts& b);
Parts conjugate(const Parts& a);

Part magnitude(const Parts& a);
Part angle(const Parts& a);

}  // namespace recut::complex_parts

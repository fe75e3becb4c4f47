// p-norms, accumulated magnitude by magnitude.
#pragma once

#include <cmath>

#include "engine/codegen/lower/nest.h"

namespace recut::loop {

// The term of each number, and the result of the total.
struct Norm {
  double p;

  Combine combine() const {
    if (!std::isinf(p)) return Combine::add;
    return p > 0 ? Combine::max : Combine::min;
  }
  double initial() const { return p == -HUGE_VAL ? HUGE_VAL : 0; }
  // The type of the total, for elements computed in `type`: squares of f32 exceed f32 where their
  // root does not.
  DType total(DType type) const { return p == 0 || p == 1 || std::isinf(p) ? type : DType::f64; }
  // The term of an element in the type of the total.
  ScalarExpr term(const ScalarExpr& x) const {
    if (p == 0) return (x != 0.0).to(x.type());
    if (p == 2) return x * x;
    const ScalarExpr size = abs(x);
    return p == 1 || std::isinf(p) ? size : pow(size, p);
  }
  ScalarExpr finish(const ScalarExpr& total) const {
    if (p == 0 || p == 1 || std::isinf(p)) return total;
    return p == 2 ? sqrt(total) : pow(total, 1 / p);
  }
};

}  // namespace recut::loop

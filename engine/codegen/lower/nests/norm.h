// p-norms, folded magnitude by magnitude.
#pragma once

#include <cmath>

#include "engine/codegen/lower/nest.h"

namespace recut::loop {

// What a number adds to the accumulator, and what the total becomes.
struct Norm {
  double p;

  Combine combine() const {
    if (!std::isinf(p)) return Combine::add;
    return p > 0 ? Combine::max : Combine::min;
  }
  double initial() const { return p == -HUGE_VAL ? HUGE_VAL : 0; }
  // What powers are added up in, of elements computed in `type`: squares of f32 reach beyond f32
  // where their root doesn't.
  DType total(DType type) const { return p == 0 || p == 1 || std::isinf(p) ? type : DType::f64; }
  // Of an element in the total's type.
  Quantity term(const Quantity& x) const {
    if (p == 0) return (x != 0.0).to(x.type());
    if (p == 2) return x * x;
    const Quantity size = abs(x);
    return p == 1 || std::isinf(p) ? size : pow(size, p);
  }
  Quantity finish(const Quantity& total) const {
    if (p == 0 || p == 1 || std::isinf(p)) return total;
    return p == 2 ? sqrt(total) : pow(total, 1 / p);
  }
};

}  // namespace recut::loop

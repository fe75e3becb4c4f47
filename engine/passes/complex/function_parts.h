// Functions by parts that other functions are made of.
#pragma once

#include "engine/passes/complex/call_parts.h"

namespace recut::complex_parts {

// Both parts as tensors, for functions that select by them.
struct Tensors {
  Value re, im;
};

// The parts in the call's dtype and shape.
Tensors tensors(CallParts& c, const Parts& x);

// x where `tested` is 0, else y.
Value where_zero(CallParts& c, const Value& tested, const Value& x, const Value& y);

// Of the two roots that with a real part of at least 0.
Tensors root(CallParts& c, const Tensors& x);

}  // namespace recut::complex_parts

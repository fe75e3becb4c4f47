// Semantics of scalar operators: functions that the interpreter calls, and the reference for every
// target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

// A scalar of any value type: floating ones in `real` (an f32 as the double of the same number),
// the others in `integer` (i32 sign-extended, bool 0 or 1).
struct Number {
  double real = 0;
  std::int64_t integer = 0;
};

// `number` rounded to f32 or wrapped to i32, if that is the type.
Number as_type(DType type, Number number);

// The value after a store as that dtype and a load (narrow).
Number round_trip(DType stored, Number number);

// An operator's result; `type` is the operands' (of select: the second's), `result` the result's.
// Returns false on bad data (an integer division by zero).
bool compute(const Apply& apply, DType type, DType result, std::span<const Number> operands,
             std::uint64_t seed, Number& out);

// next op so_far, of one type. Of two equal extremes the earlier one stays.
Number combine(Combine how, DType type, Number so_far, Number next);

// a * b + so_far, of one type. Reals are rounded once; targets may round the product first.
Number multiply_add(DType type, Number a, Number b, Number so_far);

// Elements of buffers, as numbers of the dtype's value type.
Number read_element(DType dtype, const std::byte* at);
void write_element(DType dtype, std::byte* at, Number number);

}  // namespace recut::loop

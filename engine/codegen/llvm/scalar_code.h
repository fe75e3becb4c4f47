// Scalar operators as instructions, exactly as loop/scalar_operators.def means them: no fast-math
// flag stands anywhere, so that NaN, infinities and zeros behave as in eval, and no product is
// contracted into a sum but where an accumulator takes one.
#pragma once

#include <span>

#include "engine/codegen/llvm/code.h"
#include "engine/codegen/loop/kernel.h"

namespace recut::llvm_ir {

// An operator's result, of type `result`, of operands that all have one width or are the same in
// every lane. Divisors of integers are not 0 (the caller sees to that). `seed`: an i64.
Code scalar_code(Writer& writer, const loop::Apply& apply, DType result,
                 std::span<const Code> operands, const Code& seed);

// a op b of one type.
Code combine_code(Writer& writer, loop::Combine how, const Code& a, const Code& b);

// a * b + c of one type; of reals fused where the processor does that as quickly (llvm.fmuladd).
Code multiply_add_code(Writer& writer, const Code& a, const Code& b, const Code& c);

// exp, log, tanh and erf of f32, without a call, so that every lane is computed at once. The results
// are within units in the last place of f32: exp within 1.05, the others, which are computed in f64,
// within 0.51 (tests/codegen holds them to that).
Code exp_code(Writer& writer, const Code& x);
Code log_code(Writer& writer, const Code& x);
Code tanh_code(Writer& writer, const Code& x);
Code erf_code(Writer& writer, const Code& x);

// Philox (support/philox.h): the first two words for a seed, a draw and an element, as one i64.
Code random_bits_code(Writer& writer, const Code& seed, const Code& draw, const Code& element);

}  // namespace recut::llvm_ir

// Scalar operators as instructions, exactly as loop/scalar_operators.def means them: no fast-math
// flag stands anywhere, so that NaN, infinities and zeros behave as in eval, and no product is
// contracted into a sum but where an accumulator takes one.
#pragma once

#include <span>

#include "engine/codegen/llvm/code.h"
#include "engine/codegen/loop/kernel.h"

namespace recut::llvm_ir {

// An operator's result, of type `result` and of what loop::expand leaves, of operands that all have
// one width or are the same in every lane. Divisors of integers are not 0 (the caller sees to
// that). `seed`: an i64.
Code scalar_code(Writer& writer, const loop::Apply& apply, DType result,
                 std::span<const Code> operands, const Code& seed);

// a op b of one type.
Code combine_code(Writer& writer, loop::Combine how, const Code& a, const Code& b);

// a * b + c of one type; of reals fused where the processor does that as quickly (llvm.fmuladd).
Code multiply_add_code(Writer& writer, const Code& a, const Code& b, const Code& c);

}  // namespace recut::llvm_ir

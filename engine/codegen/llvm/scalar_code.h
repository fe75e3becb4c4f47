// Scalar operators as instructions, with exactly the semantics of loop/scalar_operators.def: no
// fast-math flags, so that NaN, infinities and zeros behave as in eval. A product is contracted
// into a sum only in an accumulator's update.
#pragma once

#include <span>

#include "engine/codegen/llvm/code.h"
#include "engine/codegen/loop/kernel.h"

namespace recut::llvm_ir {

// The result of a legalized operator, of type `result`. Operands have one width, or are scalars.
// Integer divisors are not 0 (the caller guarantees it). `seed`: an i64.
Code scalar_code(Writer& writer, const loop::Apply& apply, DType result,
                 std::span<const Code> operands, const Code& seed);

// a op b of one type.
Code combine_code(Writer& writer, loop::Combine how, const Code& a, const Code& b);

// a * b + c of one type; llvm.fmuladd for reals, which fuses if that is as fast.
Code multiply_add_code(Writer& writer, const Code& a, const Code& b, const Code& c);

}  // namespace recut::llvm_ir

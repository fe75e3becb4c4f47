// Scalar operators as instructions, with exactly the semantics of loop/scalar_operators.def: no
// fast-math flags, so that NaN, infinities and zeros behave as in eval. A product is contracted
// into a sum only in an accumulator's update.
#pragma once

#include <span>

#include "engine/codegen/llvm/ir_builder.h"
#include "engine/codegen/loop/kernel.h"

namespace recut::llvm_ir {

// The result of a legalized operator, of type `result`. Operands have one width, or are scalars.
// Integer divisors are not 0 (the caller guarantees it). `seed`: an i64.
IrValue scalar_code(IrBuilder& builder, const loop::Apply& apply, DType result,
                    std::span<const IrValue> operands, const IrValue& seed);

// a op b of one type.
IrValue combine_code(IrBuilder& builder, loop::Combine how, const IrValue& a, const IrValue& b);

// a * b + c of one type; llvm.fmuladd for reals, which fuses if that is as fast.
IrValue multiply_add_code(IrBuilder& builder, const IrValue& a, const IrValue& b, const IrValue& c);

}  // namespace recut::llvm_ir

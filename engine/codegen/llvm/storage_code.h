// Elements of buffers as instructions: f16 and bf16 widen to f32 and round to nearest even, bools
// are bytes, small integers are i32.
#pragma once

#include "engine/codegen/llvm/ir_builder.h"

namespace recut::llvm_ir {

// The element's type in memory: "half" of f16, "i16" of bf16, "i8" of bool.
std::string_view memory_type(DType dtype);

// Converts a loaded memory_type(dtype) to a value, and back; the latter returns the operand's text.
IrValue value_of_memory(IrBuilder& builder, DType dtype, const std::string& text,
                        std::int64_t lanes);
std::string memory_of_value(IrBuilder& builder, DType dtype, const IrValue& value);

// The value after a store as that dtype and a load (loop::ScalarOp::narrow).
IrValue narrow_code(IrBuilder& builder, const IrValue& value, DType dtype);

}  // namespace recut::llvm_ir

// Operators that need no calls, with exactly the semantics of loop/scalar_operators.def, for
// scalars and vectors.
#pragma once

#include <span>

#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/wasm/function_builder.h"

namespace recut::wasm {

// The result of an operator, of type `result`. Operands are scalars or vectors of one width. Not
// for narrow and for functions of the C library. Integer divisors are not 0 (the caller guarantees
// it).
WasmValue arithmetic_code(FunctionBuilder& builder, loop::ScalarOp op, DType result,
                          std::span<const WasmValue> operands);

// b if the condition is true, else c.
WasmValue select_code(FunctionBuilder& builder, const WasmValue& condition, const WasmValue& b,
                      const WasmValue& c);

// The same number in another type (convert).
WasmValue convert_code(FunctionBuilder& builder, const WasmValue& value, DType to);
// The same bits as another type (reinterpret).
WasmValue reinterpret_code(FunctionBuilder& builder, const WasmValue& value, DType to);

}  // namespace recut::wasm

// Scalar operators as instructions and calls, with exactly the semantics of
// loop/scalar_operators.def, for scalars and vectors: arithmetic_code.h's, narrowing, and functions
// of the C library.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/wasm/function_builder.h"

namespace recut::wasm {

// The host's functions and features that generated code uses.
struct Host {
  // The index of an imported function of the C library, by its name.
  std::function<std::uint64_t(std::string_view name, const Signature& signature)> function;
  bool relaxed = false;  // has relaxed multiply-adds
};

// The result of a legalized operator, of type `result`. Operands are scalars or vectors of one
// width. Integer divisors are not 0 (the caller guarantees it).
WasmValue scalar_code(FunctionBuilder& builder, const Host& host, const loop::Apply& apply,
                      DType result, std::span<const WasmValue> operands);

// a op b of one type.
WasmValue combine_code(FunctionBuilder& builder, const Host& host, loop::Combine how,
                       const WasmValue& a, const WasmValue& b);

// a * b + c of one type; a relaxed multiply-add for reals if the host has it.
WasmValue multiply_add_code(FunctionBuilder& builder, const Host& host, const WasmValue& a,
                            const WasmValue& b, const WasmValue& c);

}  // namespace recut::wasm

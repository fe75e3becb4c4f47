// Loads and stores of dtypes, which widen and narrow, for scalars and vectors.
#pragma once

#include "engine/codegen/wasm/function_builder.h"

namespace recut::wasm {

// The address of an element: a base, and an offset in bytes.
struct Address {
  Local base = 0;
  std::uint64_t offset = 0;
};

// One element as its value type.
WasmValue load_number(FunctionBuilder& builder, DType dtype, const Address& at);
// The same for f32 and f64, broadcast to all lanes of a vector by the load instruction.
WasmValue load_splat(FunctionBuilder& builder, DType dtype, const Address& at);
// Neighbouring elements: 4 or 8.
WasmValue load_lanes(FunctionBuilder& builder, DType dtype, const Address& at, std::int64_t lanes);

void store_number(FunctionBuilder& builder, DType dtype, const Address& at, const WasmValue& value);
void store_lanes(FunctionBuilder& builder, DType dtype, const Address& at, const WasmValue& value,
                 std::int64_t lanes);

// The value after a store as that dtype and a load (narrow).
WasmValue narrow_code(FunctionBuilder& builder, const WasmValue& value, DType dtype);

}  // namespace recut::wasm

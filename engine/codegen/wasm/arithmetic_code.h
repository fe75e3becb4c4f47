// Operators that take instructions alone, exactly as loop/scalar_operators.def means them, of
// numbers and of lanes.
#pragma once

#include <span>

#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/wasm/writer.h"

namespace recut::wasm {

// An operator's result, of type `result`, of operands that are numbers or lanes of one width: any
// that neither narrows nor calls a function of the C library. Divisors of integers are not 0 (the
// caller sees to that).
Code arithmetic_code(Writer& writer, loop::ScalarOp op, DType result,
                     std::span<const Code> operands);

// b where the condition is true, else c.
Code select_code(Writer& writer, const Code& condition, const Code& b, const Code& c);

// The same number in another type (convert).
Code convert_code(Writer& writer, const Code& value, DType to);
// The same bits as another type (reinterpret).
Code reinterpret_code(Writer& writer, const Code& value, DType to);

}  // namespace recut::wasm

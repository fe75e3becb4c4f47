// Operators that need no calls, with exactly the semantics of loop/scalar_operators.def, for
// scalars and vectors.
#pragma once

#include <span>

#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/wasm/writer.h"

namespace recut::wasm {

// The result of an operator, of type `result`. Operands are scalars or vectors of one width. Not
// for narrow and for functions of the C library. Integer divisors are not 0 (the caller guarantees
// it).
Code arithmetic_code(Writer& writer, loop::ScalarOp op, DType result,
                     std::span<const Code> operands);

// b if the condition is true, else c.
Code select_code(Writer& writer, const Code& condition, const Code& b, const Code& c);

// The same number in another type (convert).
Code convert_code(Writer& writer, const Code& value, DType to);
// The same bits as another type (reinterpret).
Code reinterpret_code(Writer& writer, const Code& value, DType to);

}  // namespace recut::wasm

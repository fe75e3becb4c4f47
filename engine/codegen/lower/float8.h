// Reals of 8 bits as integer arithmetic, so that no target has to know them: in memory they are u8.
#pragma once

#include "engine/codegen/lower/scalar_expr.h"

namespace recut::loop {

// The dtype of the buffers that hold values of `dtype`.
DType buffer_dtype(DType dtype);

// The f32 of a loaded byte, and the byte of an f32, rounded to nearest even. A number that is too
// large becomes an infinity, or NaN in the formats without infinities.
ScalarExpr decoded_float8(const ScalarExpr& byte, DType dtype);
ScalarExpr encoded_float8(const ScalarExpr& real, DType dtype);

}  // namespace recut::loop

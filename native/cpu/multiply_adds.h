// How many multiplications and additions the processor does a second, where nothing has to be
// fetched: the ceiling of its arithmetic.
#pragma once

#include "engine/ir/dtype.h"
#include "engine/support/result.h"
#include "native/cpu/threads.h"

namespace recut::cpu {

// Floating-point operations a second of all threads together, by chains of fused multiply-adds in
// registers: of vectors of several widths the best. `dtype`: f32 or f64. Takes about `seconds`.
Result<double> multiply_adds_per_second(DType dtype, const Threads& threads, double seconds);

}  // namespace recut::cpu

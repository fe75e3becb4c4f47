// The ceiling of the processor's arithmetic: multiply-adds per second, where nothing is fetched.
#pragma once

#include "engine/ir/dtype.h"
#include "engine/support/result.h"
#include "native/cpu/threads.h"

namespace recut::cpu {

// Floating-point operations per second of all threads together, by chains of fused multiply-adds in
// registers; the best of several vector widths. `dtype`: f32 or f64. Takes about `seconds`.
Result<double> multiply_adds_per_second(DType dtype, const Threads& threads, double seconds);

}  // namespace recut::cpu

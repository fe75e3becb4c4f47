// Legalization: operators that no machine has become sequences of operators that every machine has.
// All targets are written from the result, so all of them compute alike.
#pragma once

#include <cstdint>

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

// exp, log, tanh and erf of f32 become polynomials without branches, so that all lanes are computed
// at once. The error in units of the last place of f32: exp 1.05, tanh and erf 1.3, log 0.51
// (tests/codegen checks this). Random numbers become integer arithmetic with the same bits: Philox
// (support/philox.h) and the distributions made of its words.
//
// `native`: a target that has these functions for f32 keeps exp, log, tanh and erf.
enum class MathFunctions : std::uint8_t { expand, native };
Kernel legalize(const Kernel& kernel, MathFunctions functions = MathFunctions::expand);

}  // namespace recut::loop

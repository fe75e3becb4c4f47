// Operators that no machine has, by operators that every machine has: what targets are written
// from, so that all of them compute alike.
#pragma once

#include <cstdint>

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

// exp, log, tanh and erf of f32 become series, which have no branches, so that every lane is
// computed at once, within units in the last place of f32: exp within 1.05, the others, which are
// computed in f64, within 0.51 (tests/codegen holds them to that). Random numbers become integer
// arithmetic, with the same bits: Philox (support/philox.h), and what is made of its words.
//
// `of_target`: a target with functions of its own for f32 keeps exp, log, tanh and erf.
enum class Functions : std::uint8_t { as_series, of_target };
Kernel expand(const Kernel& kernel, Functions functions = Functions::as_series);

}  // namespace recut::loop

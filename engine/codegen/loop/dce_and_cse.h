// Dead code elimination, common subexpression elimination, and renumbering in the order of the
// text.
#pragma once

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

// Drops definitions without uses, except checks, whose failure is a side effect. A definition that
// repeats one of its own or an enclosing block is replaced by it (expression_key.h). Afterwards
// values, loop variables and accumulators are numbered in the order of their statements; buffers
// keep their order, with scratch last. Bit-exact.
Kernel dce_and_cse(const Kernel& kernel);

}  // namespace recut::loop

// Locals that hold one value after another: each loop that sets a local costs an engine a phi.
#pragma once

#include "engine/codegen/wasm/module.h"

namespace recut::wasm {

// Locals of one type whose values aren't needed at the same time become one.
void share_locals(Function& function);

}  // namespace recut::wasm

// Coalescing of locals (Binaryen: coalesce-locals): each loop that sets a local costs the engine a
// phi.
#pragma once

#include "engine/codegen/wasm/module.h"

namespace recut::wasm {

// Locals of one type with disjoint live ranges become one.
void coalesce_locals(Function& function);

}  // namespace recut::wasm

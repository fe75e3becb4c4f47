// Stackification (LLVM: WebAssemblyRegStackify): values that are used where they are computed stay
// on the operand stack, and copies between locals are propagated.
#pragma once

#include <vector>

#include "engine/codegen/wasm/instruction.h"

namespace recut::wasm {

// Returns the instructions without redundant local.set and local.get, and without dead sets.
// `locals`: their number, parameters included. Operands of commutative instructions may be swapped.
std::vector<Instruction> stackify(std::vector<Instruction> body, std::size_t locals);

}  // namespace recut::wasm

// Values that need no local: those that are read where they are made stay on the stack, and copies
// are read and written where the other local is.
#pragma once

#include <vector>

#include "engine/codegen/wasm/instruction.h"

namespace recut::wasm {

// The same instructions without sets and gets of locals that nobody needs, and with none that
// nothing reads. `locals`: how many the function has, parameters included. A sum's or product's
// operands may change places.
std::vector<Instruction> forward_values(std::vector<Instruction> body, std::size_t locals);

}  // namespace recut::wasm

// Numbers of indices that are i64 in meaning, yet only compared, and so small that i32 does: then
// twice as many lanes are compared at once.
#pragma once

#include <vector>

#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/loop/ranges.h"

namespace recut::wasm {

// By value: whether it is such a number. Constants that they are compared with are not.
std::vector<bool> narrow_numbers(const loop::Kernel& kernel, const loop::Ranges& ranges);

}  // namespace recut::wasm

// Narrowing of index values from i64 to i32: values that are only compared, and whose range fits.
// Then twice as many lanes are compared at once.
#pragma once

#include <vector>

#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/loop/ranges.h"

namespace recut::wasm {

// By value: true if it can be i32. Constants that such values are compared with are not marked.
std::vector<bool> narrowable_indices(const loop::Kernel& kernel, const loop::Ranges& ranges);

}  // namespace recut::wasm

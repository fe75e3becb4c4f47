// The C library's functions that kernels call (codegen/wasm/emit.h), linked into this program.
#pragma once

#include <string_view>

namespace recut::step {

// The address of a function by its name.
void* c_function(std::string_view name);

}  // namespace recut::step

// Kernels that copy outputs from where a step leaves them to the caller's memory, in the strides
// of the output's type.
#pragma once

#include "engine/codegen/loop/kernel.h"
#include "engine/runtime/program.h"

namespace recut::aot {

// Buffers: the storage that the output is a view of, and the copy. The output has elements.
loop::Kernel copy_kernel(const ProgramOutput& output, const std::string& name);

}  // namespace recut::aot

// Kernels that copy outputs from where a step leaves them to the caller's memory, in the strides
// of the interface's type, and new values of inputs from there over the old ones.
#pragma once

#include "engine/codegen/loop/kernel.h"
#include "engine/runtime/program.h"

namespace recut::aot {

// Buffers: the storage that the output is a view of, and the copy of that type. The output has
// elements.
loop::Kernel copy_kernel(const ProgramOutput& output, const TensorType& type,
                         const std::string& name);

// Copies all elements of a tensor to another of its type.
loop::Kernel write_back_kernel(const TensorType& type, const std::string& name);

}  // namespace recut::aot

// Kernels as machine code and as WebAssembly, and by the loop form's interpreter, on the same
// memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/codegen/llvm/emit.h"
#include "engine/codegen/loop/kernel.h"
#include "native/cpu/jit.h"
#include "tests/codegen/kernel_memory.h"

namespace recut::test {

// Runs the stages of a kernel, parallel ones in two parts; 0, or the number of what is wrong with
// the data.
std::int64_t run_stages(const cpu::Jit& jit, std::span<const loop::Stage> stages,
                        std::span<void* const> buffers, std::uint64_t seed);

// "" where both, and WebAssembly where there is an engine for it (wasm_code.h), leave what the
// interpreter does (kernel_memory.h).
std::string machine_code_difference(std::span<const loop::Kernel> kernels, std::uint64_t seed,
                                    int last_places = 0);

// The same of memory in hand, of one kernel: what the machine code leaves.
std::string machine_code_difference(const loop::Kernel& kernel, const KernelMemory& memory,
                                    int last_places, KernelMemory* left = nullptr);

}  // namespace recut::test

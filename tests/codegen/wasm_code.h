// Kernels as WebAssembly, run by node where there is one (run_wasm.mjs).
#pragma once

#include <span>
#include <string>

#include "engine/codegen/wasm/emit.h"
#include "tests/codegen/kernel_memory.h"

namespace recut::test {

// "" where the module leaves what the interpreter does (kernel_memory.h), and where there is no
// node to run it. Functions of the C library are node's there, whose last digits are their own; and
// where node has no relaxed multiply-adds, kernels with products in sums aren't compared.
std::string wasm_difference(const loop::Kernel& kernel, const KernelMemory& memory,
                            int last_places);

// Runs the stages of a kernel; 0, or the number of what is wrong with the data. Fails where the
// engine refuses the module, where it traps, and where something is written beyond a buffer.
Result<std::int64_t> run_wasm(const wasm::Module& module, std::size_t kernel,
                              std::span<const std::span<std::byte>> buffers, std::uint64_t seed);

// Whether there is a node, and whether it has relaxed multiply-adds.
bool has_node();
bool has_relaxed_node();

}  // namespace recut::test

// FlashAttention on tensor cores, forward and backward: CUDA C++ for a library call of attention,
// which is launched like a kernel of the loop form. Scores never reach memory.
//
// After FlashAttention-2 (Dao 2023): a block of four warps has 64 or 128 queries of a head. Keys
// and values are streamed through shared memory, double buffered by cp.async. Backward is three
// launches without atomics, so it is deterministic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/codegen/cuda/helpers.h"
#include "engine/codegen/cuda/launch.h"
#include "engine/codegen/cuda/text.h"
#include "engine/codegen/library/library_kernel.h"

namespace recut::cuda {

// True if the kernel is attention in a supported form: heads of 16 to 128 features, a multiple of
// 8, with contiguous rows aligned to 16 bytes.
bool supports_attention(const library::Kernel& kernel);

// Workspace of the launches: backward, an f32 for each query.
std::int64_t attention_workspace_bytes(const library::Kernel& kernel);

// Appends the kernel's functions to a text; their symbols begin with `name`.
std::vector<Launch> emit_attention(const library::Kernel& kernel, const std::string& name,
                                   MatmulPrecision matmul_precision, Helpers& helpers, Text& text);

}  // namespace recut::cuda

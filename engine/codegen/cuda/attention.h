// Attention on tensor cores, forward and backward, without the scores in memory: CUDA C++ for a
// library's call of it, which is launched like a kernel of the loop form.
//
// After FlashAttention-2 (Dao 2023): a block of four warps has 64 or 128 queries of a head, and
// keys and values go through shared memory, the next ones on their way while these are computed
// with (cp.async). Backward is three launches, of which each adds up what it alone writes: the same
// bits every time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/codegen/cuda/helpers.h"
#include "engine/codegen/cuda/launch.h"
#include "engine/codegen/cuda/text.h"
#include "engine/codegen/library/library_kernel.h"

namespace recut::cuda {

// Whether the kernel is attention in a form that Recut's own functions have: heads of 16 to 128
// features, a multiple of 8, whose rows lie in one piece and begin at multiples of 16 bytes.
bool takes_attention(const library::Kernel& kernel);

// What its launches need beside the buffers: backward, a number for each query.
std::int64_t attention_workspace_bytes(const library::Kernel& kernel);

// Adds to a text what the kernel's launches run; their symbols begin with `name`.
std::vector<Launch> add_attention(const library::Kernel& kernel, const std::string& name,
                                  Factors factors, Helpers& helpers, Text& text);

}  // namespace recut::cuda

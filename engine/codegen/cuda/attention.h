// Attention on tensor cores, forward and backward, without the scores in memory: CUDA C++ for a
// library's call of it, which is launched like a kernel of the loop form.
//
// After FlashAttention-2 (Dao 2023): a block of four warps has 64 or 128 queries of a head, and
// keys and values go through shared memory, the next ones on their way while these are computed
// with (cp.async). Backward is three launches, of which each adds up what it alone writes: the same
// bits every time.
#pragma once

#include <string>
#include <vector>

#include "engine/codegen/cuda/emit.h"
#include "engine/codegen/cuda/helpers.h"
#include "engine/codegen/cuda/text.h"

namespace recut::cuda {

// Adds to a text what the kernel's launches run; their symbols begin with `name`.
std::vector<Launch> add_attention(const library::Kernel& kernel, const std::string& name,
                                  Factors factors, Helpers& helpers, Text& text);

}  // namespace recut::cuda

// Functions of CUDA C++ that attention's kernels are made of, as text (attention_functions.cpp, and
// attention_kernels.cpp for those that a launch calls).
#pragma once

#include <string_view>

namespace recut::cuda {

extern const std::string_view kAttentionMachine;    // what others than CUDA bring themselves
extern const std::string_view kAttentionFormats;    // f32 in products
extern const std::string_view kAttentionFormats16;  // 16 bits in products
extern const std::string_view kAttentionFormat16;   // of {Name}, {name}, to f32 by {value}
extern const std::string_view kAttentionTiles;
extern const std::string_view kAttentionForward;
extern const std::string_view kAttentionBackward;

}  // namespace recut::cuda

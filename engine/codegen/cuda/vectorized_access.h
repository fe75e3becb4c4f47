// Vectorized accesses: a thread runs several neighbouring iterations, with loads and stores of up
// to 16 bytes (as PyTorch's aligned_vector).
#pragma once

#include "engine/codegen/cuda/nest.h"

namespace recut::cuda {

// The stride of an index between neighbouring iterations.
enum class AccessStride : std::uint8_t { zero, unit, other };
// The stride of an index along a loop, for vectors of `size` iterations. The unit stride also
// implies that the first element is aligned to `size`. Values that `body` defines have an unknown
// stride.
AccessStride access_stride(const loop::Index& index, loop::LoopId loop, std::int64_t size,
                           const loop::Block& body);

inline constexpr int kMaxVectorWidth = 8;

// The largest vector width for which all stores, and all loads that aren't uniform, are contiguous
// and aligned; 1: none.
int max_vector_width(const loop::Kernel& kernel, const Nest& nest);
// The number of loads in a body that are contiguous along the loop.
int count_contiguous_loads(const loop::Block& body, loop::LoopId loop);
// True if a nest, which may have no stores, permits this width, and it divides the last loop's
// extent.
bool fits_vector_width(const loop::Kernel& kernel, const Nest& nest, std::int64_t size);

}  // namespace recut::cuda

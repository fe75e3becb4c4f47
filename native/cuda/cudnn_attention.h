// Attention in 16 bits by cuDNN, forward and backward, without the scores in memory. The call is a
// graph of operations that cuDNN's engines know (its developer guide, "Fused Flash Attention").
#pragma once

#include <memory>

#include "engine/codegen/library/library_call.h"
#include "native/cuda/cudnn.h"
#include "native/cuda/device_call.h"
#include "native/cuda/gpu.h"
#include "native/cuda/stream.h"

namespace recut::cuda {

// True if cuDNN may be asked: f16 or bf16, no bias, no dropout, and log-sums for the queries alone.
bool cudnn_may_take(const library::Kernel& attention);

// The call of cuDNN; null if it has no engine for it within `max_workspace` bytes. Backward is
// nondeterministic: blocks of keys add to a query's gradient in any order.
std::unique_ptr<DeviceCall> cudnn_attention(std::shared_ptr<const Cudnn> library,
                                            const library::Kernel& attention, SharedGpu gpu,
                                            const Stream& stream, std::int64_t max_workspace);

}  // namespace recut::cuda

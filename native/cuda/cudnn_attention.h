// Attention of 16 bits by cuDNN, forward and backward without the scores in memory: as a graph of
// what it is made of, which cuDNN's engines know (its developer guide, "Fused Flash Attention").
#pragma once

#include <memory>

#include "engine/codegen/library/library_call.h"
#include "native/cuda/card.h"
#include "native/cuda/cudnn.h"
#include "native/cuda/device_call.h"
#include "native/cuda/stream.h"

namespace recut::cuda {

// Whether it may be asked: f16 or bf16, no bias and no dropout, and sums for the queries alone.
bool cudnn_may_take(const library::Kernel& attention);

// Null where cuDNN has no way for it within `most_workspace` bytes. Backward gives other bits each
// time: blocks of keys add to a query's gradient in any order.
std::unique_ptr<DeviceCall> cudnn_attention(std::shared_ptr<const Cudnn> library,
                                            const library::Kernel& attention, SharedCard card,
                                            const Stream& stream, std::int64_t most_workspace);

}  // namespace recut::cuda

// Matches calls of a graph to library kernels (library_kernel.h), and decides which of them a
// library takes.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/codegen/library/library_kernel.h"
#include "engine/ir/graph.h"
#include "engine/ir/storage_model.h"

namespace recut::library {

// The library kernel of a call. Nothing where the operator, a dtype, a layout, a scale or a
// requested output has no counterpart in the libraries.
std::optional<Kernel> library_kernel(const Graph& graph, const StorageModel& storages, NodeId id);

// Decides whether a target's library supports a kernel: by the kernel alone, or by asking the
// library as well.
using SupportsForm = bool (*)(const Kernel& kernel);
using SupportsKernel = std::function<bool(const Kernel& kernel)>;

// True for kernels that every library supports: f32 convolutions and products without epilogues,
// but for a bias.
bool is_portable(const Kernel& kernel);

// The kernel with numbered buffers and without names: a key, equal for calls that differ in names
// alone.
Kernel strip_names(Kernel kernel);

// Prints a kernel: buffers, then a line a call.
//   %mm[512, 512 by 512, 1] = product %x[512, 768 by 768, 1], %w[768, 512 by 1, 768]
//   %y[8, 4 by 4, 1] = 2 * product %x[8, 6 by 6, 1], %w[6, 4 by 4, 1], plus 0.5 * %z[8, 4 by 4, 1]
//   %r[8, 4 by 4, 1] = product %x[8, 6 by 6, 1], %w[6, 4 by 4, 1], plus %b[4 by 1], relu
std::string print(const Kernel& kernel);

}  // namespace recut::library

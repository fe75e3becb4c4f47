// Calls of a graph as a library's kernels (library_kernel.h), and whether a library takes them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/codegen/library/library_kernel.h"
#include "engine/ir/graph.h"
#include "engine/ir/storage_model.h"

namespace recut::library {

// A call of the graph as a library's. Nothing where it is none of those, is not of one
// dtype that these have, has a layout or a scale that none of them has, or where it gives something
// that they don't.
std::optional<Kernel> library_kernel(const Graph& graph, const StorageModel& storages, NodeId id);

// Whether a target's library takes a kernel: what knows by the kernel alone, and what may ask the
// library besides.
using TakesForm = bool (*)(const Kernel& kernel);
using Takes = std::function<bool(const Kernel& kernel)>;

// What every library takes: products and convolutions of f32, and of products those with a bias at
// most, and not rectified.
bool is_common(const Kernel& kernel);

// With numbers for its buffers' names: kernels that differ in names alone are the same.
Kernel without_names(Kernel kernel);

// As text: buffers, then a line a call.
//   %mm[512, 512 by 512, 1] = product %x[512, 768 by 768, 1], %w[768, 512 by 1, 768]
//   %y[8, 4 by 4, 1] = 2 * product %x[8, 6 by 6, 1], %w[6, 4 by 4, 1], plus 0.5 * %z[8, 4 by 4, 1]
//   %r[8, 4 by 4, 1] = product %x[8, 6 by 6, 1], %w[6, 4 by 4, 1], plus %b[4 by 1], rectified
std::string print(const Kernel& kernel);

}  // namespace recut::library

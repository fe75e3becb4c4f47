// A kernel as JSON, the same in the command and the C library.
#pragma once

#include "native/operators/call_facts.h"
#include "native/operators/kernel.h"
#include "native/operators/operator_store.h"

namespace recut::operators {

// {"operator", "device", "arguments", "library", "processor", "arena_bytes", "inputs": [{"name",
// "dtype", "sizes", "strides", "bytes"}, …], "outputs": […]}
Json kernel_json(const CallFacts& call, const KeptKernel& kept, const Kernel& kernel);

// {"kind": "other arguments", "reason": "…", "differences": […]}
Json miss_json(const Miss& miss);

}  // namespace recut::operators

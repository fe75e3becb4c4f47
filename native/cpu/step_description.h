// The description beside an entry of the cache, for users and scripts: JSON like that of PyTorch's
// aoti_compile_with_persistent_cache, with more of its origin.
#pragma once

#include <string>

#include "engine/runtime/program.h"
#include "engine/workspace/scheduling.h"
#include "native/cpu/object_code.h"

namespace recut::cpu {

// {"kind": "step", "graph": …, "device": "cpu", "budget": …, "inputs": [{"name", "kind", "dtype",
// "shape", "strides"}], "outputs": […], "arena_bytes": …, "target": …, …}. Shapes are static: other
// tensors are another step's.
std::string describe_step(const Document& document, const SchedulingRequest& request,
                          const Program& program, const Target& target);

std::string describe_object(const Target& target, const std::string& object);

}  // namespace recut::cpu

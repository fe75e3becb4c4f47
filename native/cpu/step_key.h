// Keys of the cache: digests of all inputs of a compiled step.
#pragma once

#include <string_view>

#include "engine/runtime/program.h"
#include "engine/workspace/scheduling.h"
#include "native/cache/digest.h"
#include "native/cpu/object_code.h"

namespace recut::cpu {

// The key of a whole step: the graph with all names and measurements, the planning and scheduling
// request, the device's figures, the program options, the target, LLVM, oneDNN, which has code for
// some calls, and Recut's build. Fails where the request's device is unknown.
Result<cache::Digest> step_key(const Document& document, const SchedulingRequest& request,
                               const ProgramOptions& program, const Target& target,
                               std::string_view build);

// The key of object code: the LLVM IR, the target, LLVM, and Recut's build.
cache::Digest object_key(std::string_view text, const Target& target, std::string_view build);

}  // namespace recut::cpu

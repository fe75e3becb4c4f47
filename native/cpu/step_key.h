// What a compiled step depends on, as keys of the cache.
#pragma once

#include <string_view>

#include "engine/runtime/program.h"
#include "engine/workspace/scheduling.h"
#include "native/cache/digest.h"
#include "native/cpu/object_code.h"

namespace recut::cpu {

// Of a whole step: the graph with all of its names and measurements, how it is to be planned and
// scheduled, by which device's figures and with what in the program; the target, LLVM, oneDNN,
// which has code for some calls, and Recut's build. Fails where the request's device is none.
Result<cache::Digest> step_key(const Document& document, const SchedulingRequest& request,
                               const ProgramOptions& program, const Target& target,
                               std::string_view build);

// Of object code: the LLVM IR, the target, LLVM, and Recut's build.
cache::Digest object_key(std::string_view text, const Target& target, std::string_view build);

}  // namespace recut::cpu

// The code of a scheduled step in a target (engine/codegen/target.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/codegen/target.h"
#include "engine/runtime/program.h"
#include "engine/workspace/document.h"
#include "engine/workspace/scheduling.h"

namespace recut {

// The program of a scheduled plan for a target: loops, and the calls that the target has functions
// for. Fails as program_of does (compile.h).
Result<Program> program_for(const Target& target, const Document& document,
                            const ScheduledPlan& scheduled, const TargetOptions& options = {});

// Kernels in loop form come first in the count, then those of the library.
std::uint32_t kernel_count(const Program& program);

// The launches as comments of the target, then the code of each kernel under its title. `kernel`:
// the code of this one alone, which is below kernel_count().
std::string code_of(const Target& target, const Graph& graph, const Program& program,
                    std::optional<std::uint32_t> kernel = {}, const TargetOptions& options = {});

// {"target": id, "program": digest, "arena_bytes": n, "kernels": n, "launches": n, "code": text}.
std::string target_code_json(const Target& target, const Graph& graph, const Program& program,
                             const TargetOptions& options = {});

}  // namespace recut

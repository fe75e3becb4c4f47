// The pipeline from a file to code, the same for every target:
//
//   open_document       file → graph, passes                              document.h
//   schedule_document   graph, budget → plan, kernels, arena              scheduling.h
//   program_of          → kernels in loop form or as calls of a library   here
//   Executor, emit      → machine code that runs, or text                 executor.h, codegen
#pragma once

#include "engine/runtime/program.h"
#include "engine/workspace/document.h"
#include "engine/workspace/executor.h"
#include "engine/workspace/scheduling.h"

namespace recut {

// The program of a scheduled plan of the document's graph, with the predicted time of each launch.
// `options`: the target's, from Executor::program_options(). Fails on operators without a loop
// form, and names all of them.
Result<Program> program_of(const Document& document, const ScheduledPlan& scheduled,
                           const ProgramOptions& options = {});

// The same for a step with a given schedule, without predicted times.
Result<Program> program_of(const ScheduledStep& step, const ProgramOptions& options = {});

}  // namespace recut

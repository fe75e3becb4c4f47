// The last part of the way from a file to code, which every target goes:
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

// The program of a scheduled plan of the document's graph, with the time that the plan predicts of
// each launch. `options`: the target's, as Executor::program_options() gives them. Fails where an
// operator has no loops (all are named).
Result<Program> program_of(const Document& document, const ScheduledPlan& scheduled,
                           const ProgramOptions& options = {});

// The same of a step whose plan somebody else made, without predicted times.
Result<Program> program_of(const ScheduledStep& step, const ProgramOptions& options = {});

}  // namespace recut

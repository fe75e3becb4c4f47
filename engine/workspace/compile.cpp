#include "engine/workspace/compile.h"

namespace recut {

Result<Program> program_of(const Document& document, const ScheduledPlan& scheduled,
                           const ProgramOptions& options) {
  auto program = program_of(
      {document, *scheduled.kernels, scheduled.schedule, scheduled.planned.report.budget_bytes},
      options);
  if (program) predict(*program, scheduled.schedule, scheduled.planned.replay);
  return program;
}

Result<Program> program_of(const ScheduledStep& step, const ProgramOptions& options) {
  auto program = make_program(step.document.graph(), step.kernels, step.schedule, options);
  if (program) program->budget_bytes = step.budget_bytes;
  return program;
}

}  // namespace recut

// Executes steps in a page, for the window.
#pragma once

#include "engine/workspace/executor.h"

namespace recut::step {

class PageExecutor : public Executor {
 public:
  std::string id() const override { return "page"; }
  std::string title() const override { return "This page"; }
  std::string where() const override;
  // A browser has no library: elsewhere its kernels are Recut's own loops.
  std::vector<std::string> run_words() const override { return {"--no-library"}; }
  KernelLibrary library() const override;
  Result<StepMeasurement> run(const ScheduledStep& scheduled, const StepRunOptions& order,
                              const StepProgress& progress) override;
  Result<PreparedStep> prepare(Program program, const BindInputs& read) override;
};

}  // namespace recut::step

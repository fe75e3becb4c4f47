// Steps on this machine's processor, for the window.
#pragma once

#include "engine/workspace/executor.h"

namespace recut::native {

class CpuExecutor : public Executor {
 public:
  // `threads` 0: one per core.
  explicit CpuExecutor(int threads = 0);

  std::string id() const override { return "cpu"; }
  std::string title() const override { return "This processor"; }
  KernelLibrary library() const override;
  std::string where() const override;
  std::vector<std::string> run_words() const override;
  std::string device() const override;
  Result<StepMeasurement> run(const ScheduledStep& scheduled, const StepRunOptions& order,
                              const StepProgress& progress) override;
  Result<PreparedStep> prepare(Program program, const BindInputs& read) override;

 private:
  int threads_;
};

}  // namespace recut::native

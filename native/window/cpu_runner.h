// Steps on this machine's processor, for the window.
#pragma once

#include "gui/backend/runner.h"

namespace recut::native {

class CpuRunner : public gui::Runner {
 public:
  std::string id() const override { return "cpu"; }
  std::string title() const override { return "This processor"; }
  gui::KernelLibrary library() const override;
  std::string where() const override;
  std::string device() const override;
  Result<gui::StepFigures> run(const gui::ScheduledStep& scheduled, const gui::StepOrder& order,
                               const gui::StepProgress& progress) override;
  Result<gui::PreparedStep> prepare(Program program, const gui::ReadBy& read) override;
};

}  // namespace recut::native

// Steps in a page, for the window.
#pragma once

#include "gui/backend/runner.h"

namespace recut::step {

class PageRunner : public gui::Runner {
 public:
  std::string id() const override { return "page"; }
  std::string title() const override { return "This page"; }
  std::string where() const override;
  gui::KernelLibrary library() const override;
  Result<gui::StepFigures> run(const gui::ScheduledStep& scheduled, const gui::StepOrder& order,
                               const gui::StepProgress& progress) override;
  Result<gui::PreparedStep> prepare(Program program, const gui::ReadBy& read) override;
};

}  // namespace recut::step

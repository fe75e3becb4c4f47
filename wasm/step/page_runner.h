// Steps in a page, for the window.
#pragma once

#include "gui/backend/runner.h"

namespace recut::step {

class PageRunner : public gui::Runner {
 public:
  Result<gui::StepFigures> run(const gui::ScheduledStep& scheduled, const gui::StepOrder& order,
                               const gui::StepProgress& progress) override;
};

}  // namespace recut::step

// The reasons why the values of a plan are saved or recomputed, and the values that its change
// flipped: a job of short parts, so that a frame of a page waits for none of them on a large graph.
#pragma once

#include <functional>
#include <memory>

#include "gui/backend/jobs.h"
#include "gui/model/document_view.h"
#include "gui/model/plan_change.h"

namespace recut::gui {

struct FoundReasons {
  std::shared_ptr<const Reasons> reasons;    // keeps the plan that it looks at
  std::shared_ptr<const PlanChange> change;  // null where no plan was before
};

// The job that finds the reasons of the shown plan. `before`: the plan before `answered`; with a
// plan in it, their change is found, too.
Job reasons_job(SharedPlanView shown, AnsweredPlan before, AnsweredPlan answered,
                std::function<void(JobControl&, FoundReasons)> take);

}  // namespace recut::gui

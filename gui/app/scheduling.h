// The job that schedules the plan that is shown, for the panels that speak of its kernels.
#pragma once

#include "gui/app/app.h"
#include "gui/model/schedule_view.h"

namespace recut::gui {

// Whether somebody has to ask for it: it isn't there, nor at work, nor known to be impossible.
bool wants_schedule(const App& app, const DocumentView& document, const Scheduling& scheduling);
// Starts the job where it is wanted.
void prepare_schedule(App& app, DocumentView& document);

}  // namespace recut::gui

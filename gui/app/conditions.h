// Conditions under which commands are enabled, as rows of their tables name them.
#pragma once

#include "gui/app/app.h"

namespace recut::gui {

// True if a document is open and read.
inline bool is_ready(const App& app) { return app.has_ready(); }

// It is shown with a plan.
inline bool has_plan(const App& app) { return app.has_ready() && app.document()->shown != nullptr; }

}  // namespace recut::gui

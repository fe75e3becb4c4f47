// The menu at the left end of the bar.
#pragma once

#include "gui/app/app.h"

namespace recut::gui {

// Cuts its button off the left of the bar; the open menu hangs under it.
void bar_menu(Ui& ui, const PanelInput& input, Rect& bar, Intents& intents);

}  // namespace recut::gui

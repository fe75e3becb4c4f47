// The offer of a debug bundle below a failed check, in the panels that run something.
#pragma once

#include "gui/app/panel.h"
#include "gui/draw/widgets.h"

namespace recut::gui {

// Cuts a row off `area`. `command` saves the bundle.
void draw_bundle_offer(Ui& ui, const PanelInput& input, Rect& area, std::string_view command,
                       Intents& intents);

}  // namespace recut::gui

// The documents as tabs in the bar, and the button that opens another one.
#pragma once

#include "gui/app/app.h"
#include "gui/draw/widgets.h"

namespace recut::gui {

// The pixels that all tabs take if they have room.
float document_tabs_width(const Ui& ui, const App& app);

// Cuts the tabs off the left of `rest`, narrower where they don't fit. In a `narrow` bar, a
// phone's, the document in front then stands alone, and a button goes to the next one.
void document_tabs(Ui& ui, const PanelInput& input, bool narrow, Rect& rest, Intents& intents);

}  // namespace recut::gui

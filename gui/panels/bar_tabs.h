// The documents as tabs in the bar, and the button that opens another one.
#pragma once

#include "gui/app/app.h"
#include "gui/draw/widgets.h"

namespace recut::gui {

// Pixels that all tabs take where they have room.
float document_tabs_width(const Ui& ui, const App& app);

// Cuts them off the left of `rest`, narrower where they don't fit. In a `narrow` bar, a phone's,
// the document in front then stands alone, and a button goes to the next one.
void document_tabs(Ui& ui, const PanelInput& input, bool narrow, Rect& rest, Intents& intents);

}  // namespace recut::gui

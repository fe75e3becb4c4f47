// Popups over the panels, beside the item that they belong to: menus, lists of matches, tooltips.
#pragma once

#include <string_view>

#include "gui/draw/widgets.h"

namespace recut::gui {

// A raised background with a shadow and a line around it, in the current window.
void raised_ground(const Ui& ui, const Rect& box);

// A window of its own over all others, which takes no keyboard; drawing until end_popup() goes into
// it. `box` is moved so that it stands in the window, and cut to it; the returned rectangle is
// inside its edges. `PopupBackground::blocked`: widgets beside it don't respond to the pointer
// while it is open.
enum class PopupBackground : bool { interactive, blocked };
Rect begin_popup(const Ui& ui, std::string_view id, Rect& box,
                 PopupBackground background = PopupBackground::interactive);
void end_popup();
// True if a button was pressed elsewhere than in it.
bool pressed_outside(const Rect& box);

inline constexpr float kPopupEdge = 5;  // units above and below the rows

// A row of a popup: its background says hovered and chosen. Draw its text over it.
WidgetResponse popup_row(Ui& ui, std::string_view label, const Rect& rect, bool chosen,
                         bool enabled = true, std::string value = {});

}  // namespace recut::gui

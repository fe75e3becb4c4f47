// The window's own widgets: each draws itself, answers pointer and keyboard, and stands in the
// table of items under its label, by which scripts find it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gui/draw/ui.h"

namespace recut::gui {

struct WidgetResponse {
  bool hovered = false;
  bool held = false;     // pressed down on it and not let go
  bool pressed = false;  // clicked, or Enter or Space with the keyboard on it
  bool doubled = false;  // clicked twice
  bool menu = false;     // clicked with the right button
};

// An area that takes pointer and keyboard; it draws only the keyboard's ring. The label is unique
// in its panel.
WidgetResponse interact(Ui& ui, std::string_view label, ItemKind kind, const Rect& rect,
                        bool enabled = true, std::string value = {});

enum class ButtonLook : unsigned char {
  plain,    // raised
  primary,  // filled with the selection's colour
  quiet,    // text alone, with a background under the pointer
};
bool button(Ui& ui, std::string_view label, const Rect& rect, std::string_view text,
            ButtonLook look = ButtonLook::plain, bool enabled = true);
// A button whose text has a colour of its own: "Must save".
bool tinted_button(Ui& ui, std::string_view label, const Rect& rect, std::string_view text,
                   Colour colour, bool chosen, bool enabled = true);

// A tab: a text, underlined if chosen.
bool tab(Ui& ui, std::string_view label, const Rect& rect, std::string_view text, bool chosen);

bool toggle(Ui& ui, std::string_view label, const Rect& rect, std::string_view text, bool on);

// A line of text. `changed`: in this frame; `committed`: Enter.
struct FieldAnswer {
  bool changed = false;
  bool committed = false;
  bool active = false;
};
struct FieldLook {
  std::string_view hint;
  Face face = Face::text;
  bool take_keyboard = false;  // from this frame on
  bool framed = true;
  bool completes = false;  // Tab completes the text (Items::complete), and keeps the focus
  const std::string* put = nullptr;  // replaces its text, with the cursor behind it
};
FieldAnswer field(Ui& ui, std::string_view label, const Rect& rect, std::string& text,
                  const FieldLook& look = {});

// A slider of the whole positions 0 … most; true if `at` changed.
bool slider(Ui& ui, std::string_view label, const Rect& rect, int& at, int most);

// The value to which keys move the item added last, which stands at `span.now`; none if they don't
// move it. The keys are its own while the keyboard is on it: arrows move it a step, Page keys ten,
// Home and End to the ends.
std::optional<double> moved_by_keys(Ui& ui, const Span& span, double step);

// A row of a list or table: its background says hovered and chosen. Draw its cells over it.
WidgetResponse row(Ui& ui, std::string_view label, const Rect& rect, bool chosen,
                   std::string value = {});

// A figure with its label: "peak" dim, "979 MiB" strong. Returns the width.
float figure(Ui& ui, std::string_view label, const Rect& rect, std::string_view what,
             std::string_view value, Colour colour);

// Heading of a panel: a text, and a quiet remark after it.
void heading(Ui& ui, const Rect& rect, std::string_view text, std::string_view remark = {});

// The triangle before a row that opens and closes.
void fold_mark(const Ui& ui, const Rect& rect, bool open, bool strong);

// A tooltip while the last widget is hovered for a moment; screen readers read it as the widget's
// description. A disabled widget says why.
void hint(Ui& ui, std::string_view text);

// A scrolled region; draw its content between the two, from `content` down. `height`: of all of it.
// Only content that meets `visible` needs drawing.
inline constexpr float kScrollbar = 8;  // units
struct Scrolled {
  Rect content;
  Rect visible;
};
Scrolled begin_scroll(Ui& ui, std::string_view label, const Rect& rect, float height);
void end_scroll();
// Brings a strip of the content into view; between begin_scroll and end_scroll.
void scroll_to(float top, float bottom, const Scrolled& region);

}  // namespace recut::gui

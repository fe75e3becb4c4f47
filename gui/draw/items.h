// The items on the screen, as a table: every labelled widget with its rectangle, state and value.
// Scripts, tests and accessibility read it; it is made again with every frame.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/draw/geometry.h"

namespace recut::gui {

enum class ItemKind : unsigned char { button, tab, field, row, slider, toggle, handle, figure };

// The range and position of an item that can be moved: a slider, a splitter.
struct Span {
  double least = 0, most = 0, now = 0;
  std::string text;  // the meaning of `now`; "": the item's value says it
};

struct Item {
  std::string label;  // "trade-off/budget": the panel's name and the widget's
  ItemKind kind = ItemKind::button;
  Rect rect;     // as far as it can be seen
  ImVec2 reach;  // the whole area that responds, with scrolled-out parts
  bool enabled = true;
  std::string value;  // its text or state
  std::optional<Span> span;
  std::string name;       // for screen readers; "": label and value say it
  std::string hint;       // its purpose, likewise
  bool own_keys = false;  // arrows, Page keys, Home and End move it while the keyboard is on it
  bool visible() const { return !rect.empty(); }
};

// Its name for a screen reader: its given name, or the text on it, or its hint if the text is a
// sign, or its label.
std::string spoken_name(const Item& item);

class Items {
 public:
  void begin_frame();
  void begin_panel(std::string_view panel) { panel_ = panel; }

  // Returns the whole label.
  const std::string& add(std::string_view label, ItemKind kind, const Rect& rect, bool enabled,
                         std::string value = {});
  // Sets the value of the last added item.
  void set_value(std::string value) { items_.back().value = std::move(value); }
  void set_reach(ImVec2 reach) { items_.back().reach = reach; }
  void set_name(std::string_view name) { items_.back().name = name; }
  void describe(std::string_view hint);
  void set_span(Span span) { items_.back().span = std::move(span); }  // of the last added item
  // Gives the item that was added last keys of its own; true if the keyboard is on it.
  bool take_keys();
  // True if the keyboard is on an item that has keys of its own.
  bool keys_are_taken() const;
  void add_text(std::string_view text, const Rect& rect);
  // A text that is too long is shown as `shown`, with "…".
  void add_cut(std::string_view text, std::string_view shown, const Rect& rect);

  const std::vector<Item>& all() const { return items_; }
  // Finds an item by its whole label, or by the part after the panel's name: a visible one, if
  // there is one.
  const Item* find(std::string_view label) const;
  // The first text on the screen, or in a panel, that has `part` in it; null where there is none.
  const std::string* find_text(std::string_view part, std::string_view panel = {}) const;
  // The full texts of cut labels in a panel: for tests.
  std::vector<std::string> cut_texts(std::string_view panel) const;
  // The visible part of those texts, with "…".
  std::vector<std::string> remains_of_cut_texts(std::string_view panel) const;

  // Tab and Shift+Tab: the label that has the keyboard, "" for none.
  std::string focused;
  bool focus_visible = false;  // the keyboard moved it
  bool activate = false;       // Enter or Space was pressed on it
  void move_focus(int by);

  std::string keyboard_for;  // the label of a field that takes the keyboard in the next frame

  std::string active_field;  // that has it now
  std::string completing;    // the same, if Tab completes the typed text
  bool complete = false;     // Tab was pressed there; for one frame

  bool keys_lead = false;  // a key was pressed since the pointer moved: hints would be in the way

  bool keep_texts = false;  // for find_text and cut_texts

 private:
  std::string panel_;
  std::vector<Item> items_, last_;
  struct ShownText {
    std::string panel, text;  // whole
    std::string shown;        // of a cut text: its visible part
  };
  std::vector<ShownText> texts_, cuts_;
};

}  // namespace recut::gui

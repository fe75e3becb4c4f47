// The table's columns and cells.
#pragma once

#include <string>
#include <string_view>

#include "gui/app/command.h"
#include "gui/draw/ui.h"
#include "gui/model/value_table.h"

namespace recut::gui {

// The columns in a strip; a column without room is empty. `names`: the width of the names, in
// pixels. Names come before modules and prices.
class ValueColumns {
 public:
  ValueColumns(const Ui& ui, const Rect& area, float names);
  Rect cell(const Rect& strip, ValueColumn column) const;
  Rect sign(const Rect& strip) const;
  Rect overrides(const Rect& strip) const;  // at the end of the text

 private:
  float edge_, sign_, name_, module_, bytes_, peak_, time_;
};

void column_title(const Ui& ui, Rect cell, ValueColumn column, bool chosen, bool falling,
                  bool hovered);
std::string_view meaning_of(ValueColumn column);

struct RowLook {
  Role role = Role::freed;
  OverrideKind override_kind = OverrideKind::no;
  bool blamed = false;  // a choice that stands in the way
  bool priced = true;   // false: the effect of the opposite choice isn't known yet
  std::int64_t bytes = 0;
  std::string_view module;
};
void value_cells(const Ui& ui, const ValueColumns& columns, const Rect& strip,
                 std::string_view name, const ValueRow& value, const RowLook& look);

// Draws the buttons "save" and "recompute"; the chosen one is filled, and takes the override back
// if pressed again.
void override_buttons(Ui& ui, const ValueColumns& columns, const Rect& strip,
                      const std::string& name, OverrideKind override_kind, Intents& intents);

}  // namespace recut::gui

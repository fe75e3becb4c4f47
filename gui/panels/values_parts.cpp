// The cells of the table of values. Names come first: a narrow table drops first the column of
// time, then that of the peak, then shrinks modules, before it cuts a name. Cells are cut from the
// same strip in header and rows, so that they stay aligned.
#include "gui/panels/values_parts.h"

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/draw/table.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

constexpr float kMinModuleWidth = 52;  // units

std::string_view title_of(ValueColumn column) {
  switch (column) {
    case ValueColumn::name:
      return "value";
    case ValueColumn::module:
      return "module";
    case ValueColumn::bytes:
      return "bytes";
    case ValueColumn::flip_bytes:
      return "flip: peak";
    case ValueColumn::flip_us:
      return "flip: time";
    case ValueColumn::order:
      return "order";
  }
  return {};
}

bool is_number(ValueColumn column) {
  return column != ValueColumn::name && column != ValueColumn::module;
}

// The sign of an override: a pin with a head and a needle.
void draw_override_sign(const Ui& ui, ImVec2 at, Colour colour) {
  ui.circle({at.x, at.y - ui.px(2)}, ui.px(2.6f), colour);
  ui.line({at.x, at.y}, {at.x, at.y + ui.px(5)}, colour, ui.whole(1.2f));
}

}  // namespace

ValueColumns::ValueColumns(const Ui& ui, const Rect& area, float names) {
  edge_ = ui.px(kPadding);
  sign_ = ui.px(20);
  bytes_ = ui.px(62);
  peak_ = ui.px(70);
  time_ = ui.px(66);
  const auto text_width = [&] { return area.width() - 2 * edge_ - sign_ - bytes_ - peak_ - time_; };
  const float needed = room_for_names(ui, names);
  const std::size_t columns = columns_beside(needed, text_width() + peak_ + time_, {peak_, time_});
  if (columns < 2) time_ = 0;
  if (columns < 1) peak_ = 0;
  const float spare = text_width() - needed;
  module_ = spare > ui.px(kMinModuleWidth) ? std::round(std::min(spare, text_width() * 0.4f)) : 0;
  name_ = std::max(0.0f, text_width() - module_);
}

Rect ValueColumns::cell(const Rect& strip, ValueColumn column) const {
  const float left = strip.left + edge_ + sign_;
  const auto from = [&](float left, float width) {
    return Rect{left, strip.top, left + width, strip.bottom};
  };
  const float numbers = left + name_ + module_;
  switch (column) {
    case ValueColumn::name:
      return from(left, name_);
    case ValueColumn::module:
      return from(left + name_, module_);
    case ValueColumn::bytes:
      return from(numbers, bytes_);
    case ValueColumn::flip_bytes:
      return from(numbers + bytes_, peak_);
    case ValueColumn::flip_us:
      return from(numbers + bytes_ + peak_, time_);
    case ValueColumn::order:
      break;
  }
  return {};
}

Rect ValueColumns::sign(const Rect& strip) const {
  return {strip.left + edge_, strip.top, strip.left + edge_ + sign_, strip.bottom};
}

Rect ValueColumns::overrides(const Rect& strip) const {
  Rect name_rect = cell(strip, ValueColumn::name);
  name_rect.right += module_;
  return name_rect.cut_right(2 * strip.height());  // a square each
}

void column_title(const Ui& ui, Rect cell, ValueColumn column, bool chosen, bool falling,
                  bool hovered) {
  const Colour ink = chosen ? ui.theme.text : hovered ? ui.theme.dim : ui.theme.faint;
  const std::string_view title = title_of(column);
  const bool number = is_number(column);
  const float wide = ui.text(cell, title, Face::small, ink, number ? Align::right : Align::left);
  if (!chosen) return;
  // An arrow before numbers, behind texts.
  const float x = number ? cell.right - wide - ui.px(7) : cell.left + wide + ui.px(7);
  const float y = cell.centre().y, r = ui.px(2.6f), direction = falling ? 1.0f : -1.0f;
  ui.line({x - r, y - r * direction / 2}, {x, y + r * direction / 2}, ink, ui.px(1.2f));
  ui.line({x + r, y - r * direction / 2}, {x, y + r * direction / 2}, ink, ui.px(1.2f));
}

std::string_view meaning_of(ValueColumn column) {
  switch (column) {
    case ValueColumn::name:
      return "Forward values that can be saved or recomputed. Sorts by name.";
    case ValueColumn::module:
      return "The module that makes it";
    case ValueColumn::bytes:
      return "Bytes of its storages; where some are kept for backward, of these";
    case ValueColumn::flip_bytes:
      return "The other choice for this value alone: bytes more or less at the plan's peak";
    case ValueColumn::flip_us:
      return "The other choice for this value alone: time more or less for recomputation, with "
             "the runs that it needs";
    case ValueColumn::order:
      break;
  }
  return {};
}

void value_cells(const Ui& ui, const ValueColumns& columns, const Rect& strip,
                 std::string_view name, const ValueRow& value, const RowLook& look) {
  const Theme& theme = ui.theme;
  const Rect sign = columns.sign(strip);
  ui.sign({sign.left + ui.px(6), sign.centre().y}, look.role);
  if (look.override_kind != OverrideKind::no)
    draw_override_sign(ui, {strip.left + ui.px(8), sign.centre().y},
                       look.blamed ? theme.conflict : theme.selection);
  Rect name_rect = columns.cell(strip, ValueColumn::name);
  name_rect.cut_right(ui.px(6));
  // Names are cut at their beginning: numbers at the end tell them apart.
  ui.path(name_rect, name, Face::mono, look.blamed ? theme.conflict : theme.text);
  Rect module = columns.cell(strip, ValueColumn::module);
  module.cut_right(ui.px(6));
  ui.path(module, short_module(look.module), Face::small, theme.faint);
  const auto number = [&](ValueColumn column, const std::string& text, Colour ink) {
    ui.text(columns.cell(strip, column), text, Face::mono, ink, Align::right);
  };
  number(ValueColumn::bytes, format_bytes(look.bytes), theme.dim);
  if (!look.priced) return number(ValueColumn::flip_us, "…", theme.faint);
  if (!value.has_choice) return;
  // Gains are green, and time lost by saved values is red: the two that are weighed when memory is
  // short.
  const bool saved = look.role == Role::saved;
  number(ValueColumn::flip_bytes, signed_bytes(value.flip_bytes),
         value.flip_bytes < 0    ? theme.result
         : value.flip_bytes == 0 ? theme.faint
                                 : theme.dim);
  number(ValueColumn::flip_us, signed_micros(value.flip_us),
         saved && value.flip_us > 0 ? theme.conflict : theme.dim);
}

void override_buttons(Ui& ui, const ValueColumns& columns, const Rect& strip,
                      const std::string& name, OverrideKind override_kind, Intents& intents) {
  Rect rect = columns.overrides(strip);
  ui.fill(rect.inset(0, 1), ui.theme.raised);
  const auto one = [&](const char* verb, Role role, bool on) {
    const Rect box = rect.cut_left(rect.height()).inset(ui.px(1), ui.px(2));
    const WidgetResponse t = interact(ui, std::string(verb) + " " + name, ItemKind::toggle, box,
                                      true, on ? "on" : "off");
    if (t.hovered || on)
      ui.fill(box, mix(ui.theme.raised, colour_of(ui.theme, role), on ? 0.3 : 0.15), ui.px(3));
    ui.sign(box.centre(), role);
    hint(ui, on                    ? "Leave it to the planner again"
             : role == Role::saved ? "Override: it must be saved"
                                   : "Override: it must be recomputed");
    if (t.pressed) intents.push_back({std::string("pin.") + verb, name});
  };
  one("save", Role::saved, override_kind == OverrideKind::save);
  one("recompute", Role::recomputed, override_kind == OverrideKind::recompute);
}

}  // namespace recut::gui

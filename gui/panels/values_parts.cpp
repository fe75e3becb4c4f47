#include "gui/panels/values_parts.h"

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/draw/table.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

constexpr float kLeastModuleWidth = 52;  // units

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
void pin_sign(const Ui& ui, ImVec2 at, Colour colour) {
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
  const auto words = [&] { return area.width() - 2 * edge_ - sign_ - bytes_ - peak_ - time_; };
  const float wanted = room_for_names(ui, names);
  const std::size_t columns = columns_beside(wanted, words() + peak_ + time_, {peak_, time_});
  if (columns < 2) time_ = 0;
  if (columns < 1) peak_ = 0;
  const float spare = words() - wanted;
  module_ = spare > ui.px(kLeastModuleWidth) ? std::round(std::min(spare, words() * 0.4f)) : 0;
  name_ = std::max(0.0f, words() - module_);
}

Rect ValueColumns::cell(const Rect& strip, ValueColumn column) const {
  const float words = strip.left + edge_ + sign_;
  const auto from = [&](float left, float width) {
    return Rect{left, strip.top, left + width, strip.bottom};
  };
  const float numbers = words + name_ + module_;
  switch (column) {
    case ValueColumn::name:
      return from(words, name_);
    case ValueColumn::module:
      return from(words + name_, module_);
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

Rect ValueColumns::pins(const Rect& strip) const {
  Rect words = cell(strip, ValueColumn::name);
  words.right += module_;
  return words.cut_right(2 * strip.height());  // a square each
}

void column_title(const Ui& ui, Rect cell, ValueColumn column, bool chosen, bool falling,
                  bool hovered) {
  const Colour ink = chosen ? ui.theme.text : hovered ? ui.theme.dim : ui.theme.faint;
  const std::string_view title = title_of(column);
  const bool number = is_number(column);
  const float wide = ui.text(cell, title, Face::small, ink, number ? Align::right : Align::left);
  if (!chosen) return;
  // An arrow before numbers, behind words.
  const float x = number ? cell.right - wide - ui.px(7) : cell.left + wide + ui.px(7);
  const float y = cell.centre().y, r = ui.px(2.6f), way = falling ? 1.0f : -1.0f;
  ui.line({x - r, y - r * way / 2}, {x, y + r * way / 2}, ink, ui.px(1.2f));
  ui.line({x + r, y - r * way / 2}, {x, y + r * way / 2}, ink, ui.px(1.2f));
}

std::string_view meaning_of(ValueColumn column) {
  switch (column) {
    case ValueColumn::name:
      return "What forward makes and there is a choice about. Sorts by name.";
    case ValueColumn::module:
      return "The module that makes it";
    case ValueColumn::bytes:
      return "Bytes of its storages; where some are kept for backward, of these";
    case ValueColumn::flip_bytes:
      return "The other choice for this value alone: bytes more or less at the plan's peak";
    case ValueColumn::flip_us:
      return "The other choice for this value alone: time more or less for recomputation, with "
             "what "
             "has to run before it";
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
  if (look.pinned != Pinned::no)
    pin_sign(ui, {strip.left + ui.px(8), sign.centre().y},
             look.blamed ? theme.conflict : theme.selection);
  Rect words = columns.cell(strip, ValueColumn::name);
  words.cut_right(ui.px(6));
  // Numbers at the end tell names apart.
  ui.path(words, name, Face::mono, look.blamed ? theme.conflict : theme.text);
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

void pin_buttons(Ui& ui, const ValueColumns& columns, const Rect& strip, const std::string& name,
                 Pinned pinned, Intents& intents) {
  Rect place = columns.pins(strip);
  ui.fill(place.inset(0, 1), ui.theme.raised);
  const auto one = [&](const char* verb, Role role, bool on) {
    const Rect box = place.cut_left(place.height()).inset(ui.px(1), ui.px(2));
    const Touch t =
        touch(ui, std::string(verb) + " " + name, ItemKind::toggle, box, true, on ? "on" : "off");
    if (t.hovered || on)
      ui.fill(box, mix(ui.theme.raised, colour_of(ui.theme, role), on ? 0.3 : 0.15), ui.px(3));
    ui.sign(box.centre(), role);
    hint(ui, on                    ? "Leave it to the planner again"
             : role == Role::saved ? "Pin: save it"
                                   : "Pin: recompute it");
    if (t.pressed) intents.push_back({std::string("pin.") + verb, name});
  };
  one("save", Role::saved, pinned == Pinned::save);
  one("recompute", Role::recomputed, pinned == Pinned::recompute);
}

}  // namespace recut::gui

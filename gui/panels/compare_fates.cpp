#include "gui/panels/compare_fates.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/draw/table.h"

namespace recut::gui {
namespace {

// Units.
constexpr float kFateWide = 170, kBytesWide = 96, kBarWide = 120, kBeforeBar = 12;
constexpr float kBeforeName = 8, kMinWhy = 150;

}  // namespace

FateColumns::FateColumns(const Ui& ui, float room, float longest_name, bool why) : ui_(ui) {
  const float wide_text = room_for_names(ui, longest_name) + (why ? ui.px(kMinWhy) : 0);
  const std::size_t columns =
      columns_beside(wide_text, room - ui.px(kBeforeName),
                     {ui.px(kBytesWide + 2 * kFateWide), ui.px(kBarWide + kBeforeBar)});
  two_lines_ = columns == 0;
  bar_ = columns == 2;
}

float FateColumns::row_height() const {
  return two_lines_ ? std::round(ui_.px(kFinger)) : ui_.target(kRow - 1);
}

float FateColumns::head_height() const { return ui_.px(two_lines_ ? 36 : 20); }

FateCells FateColumns::cells_of(Rect row) const {
  FateCells cells;
  if (bar_) cells.bar = row.cut_right(ui_.px(kBarWide + kBeforeBar));
  row.cut_left(ui_.px(kBeforeName));
  cells.name = two_lines_ ? row.cut_top(row.height() / 2) : row;
  cells.bytes = cells.name.cut_right(ui_.px(kBytesWide));
  if (two_lines_) {
    const float fate = std::min(ui_.px(kFateWide), row.width() / 2);
    cells.here = row.cut_left(fate);
    cells.there = row.cut_left(fate);
    cells.why = row;
  } else {
    cells.there = cells.name.cut_right(ui_.px(kFateWide));
    cells.here = cells.name.cut_right(ui_.px(kFateWide));
  }
  return cells;
}

void FateColumns::titles(const Rect& row, bool why) const {
  const FateCells cells = cells_of(row);
  const Colour ink = ui_.theme.faint;
  ui_.text(cells.bytes, "bytes", Face::small, ink, Align::right);
  ui_.text(cells.there, why ? "before" : "there", Face::small, ink);
  ui_.text(cells.here, why ? "now" : "here", Face::small, ink);
  ui_.text(cells.name, why && !two_lines_ ? "value, and why" : "value", Face::small, ink);
  if (why) ui_.fitting(cells.why, {"why"}, Face::small, ink);
}

void FateColumns::figures(const Rect& row, const FateRow& fate_row, double share) const {
  const FateCells cells = cells_of(row);
  if (bar_) {
    const float wide = std::max(1.0f, static_cast<float>(share) * ui_.px(kBarWide));
    const float left = cells.bar.left + ui_.px(kBeforeBar), y = cells.bar.centre().y;
    ui_.fill({left, y - ui_.px(3), left + wide, y + ui_.px(3)}, ui_.theme.line, ui_.px(1));
  }
  ui_.text(cells.bytes, format_bytes(fate_row.bytes), Face::mono, ui_.theme.text, Align::right);
  fate(cells.there, fate_row.role_there, fate_row.runs_there);
  fate(cells.here, fate_row.role_here, fate_row.runs_here);
}

void FateColumns::fate(Rect cell, Role role, std::int32_t runs) const {
  const Rect sign = cell.cut_left(ui_.px(20));
  ui_.sign({sign.left + ui_.px(6), sign.centre().y}, role);
  const std::string name(name_of(role));
  const bool reruns = runs > 1 || (runs == 1 && role != Role::recomputed);
  const std::string wide_text = reruns ? name + fmt::format(", {} reruns", runs) : name;
  ui_.fitting(cell, {wide_text, name}, Face::text, colour_of(ui_.theme, role));
}

}  // namespace recut::gui

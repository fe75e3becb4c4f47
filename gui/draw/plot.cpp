#include "gui/draw/plot.h"

#include <cmath>

#include "gui/pictures/axis.h"

namespace recut::gui {
namespace {

double share_of(const Axis& axis, double value) {
  return axis.to > axis.from ? (value - axis.from) / (axis.to - axis.from) : 0;
}

}  // namespace

Axis byte_axis(double from, double to, int ticks) {
  Axis axis{from, std::max(to, from + 1), {}};
  const auto span = static_cast<std::int64_t>(axis.to - from);
  const std::int64_t tick = byte_tick(span, ticks);
  auto at = static_cast<std::int64_t>(std::ceil(from / static_cast<double>(tick))) * tick;
  for (; static_cast<double>(at) <= axis.to; at += tick)
    axis.ticks.push_back({static_cast<double>(at), byte_label(at)});
  return axis;
}

Axis time_axis(double to, int ticks, bool plus) {
  Axis axis{0, std::max(to, 1e-3), {}};
  const double tick = time_tick(axis.to, ticks);
  for (int k = 0; k * tick <= axis.to; ++k)
    axis.ticks.push_back({k * tick, (plus && k > 0 ? "+" : "") + time_label(k * tick)});
  return axis;
}

float Plot::x(double value) const {
  return inside_.left + inside_.width() * static_cast<float>(share_of(across_, value));
}

float Plot::y(double value) const {
  return inside_.bottom - inside_.height() * static_cast<float>(share_of(up_, value));
}

double Plot::value_at_x(float x) const {
  const double share = (x - inside_.left) / std::max(1.0f, inside_.width());
  return across_.from + (across_.to - across_.from) * share;
}

double Plot::value_at_y(float y) const {
  const double share = (inside_.bottom - y) / std::max(1.0f, inside_.height());
  return up_.from + (up_.to - up_.from) * share;
}

void Plot::grid() const {
  const float dash = ui_.px(2), gap = ui_.px(4);
  for (const Tick& tick : up_.ticks) {
    const float at = std::round(y(tick.at)) + 0.5f;
    if (tick.at == up_.from) {
      ui_.line({inside_.left, at}, {inside_.right, at}, ui_.theme.line);
    } else {
      ui_.dashed_line({inside_.left, at}, {inside_.right, at}, ui_.theme.line, 1, dash, gap);
    }
    ui_.label({inside_.left - ui_.px(8), at}, tick.label, Face::mono_small, ui_.theme.faint,
              Align::right);
  }
  float free = -1e9f;  // labels don't touch
  for (const Tick& tick : across_.ticks) {
    const float wide = ui_.width(tick.label, Face::mono_small), at = x(tick.at);
    if (at - wide / 2 < free) continue;
    free = at + wide / 2 + ui_.px(10);
    ui_.line({std::round(at) + 0.5f, inside_.bottom},
             {std::round(at) + 0.5f, inside_.bottom + ui_.px(3)}, ui_.theme.line);
    ui_.label({at, inside_.bottom + ui_.px(13)}, tick.label, Face::mono_small, ui_.theme.faint,
              Align::centre);
  }
}

void Plot::begin() const {
  const float more = ui_.px(6);  // marks on an edge are whole
  ImGui::PushClipRect({inside_.left - more, inside_.top - more},
                      {inside_.right + more, inside_.bottom + more}, true);
}

void Plot::end() const { ImGui::PopClipRect(); }

void Plot::line(const std::vector<ImVec2>& points, Colour colour, float width) const {
  ImGui::GetWindowDrawList()->AddPolyline(points.data(), static_cast<int>(points.size()),
                                          Ui::paint(colour), 0, width);
}

void Plot::area(const std::vector<ImVec2>& points, Colour colour, double opacity) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImU32 paint = Ui::paint(colour, opacity);
  // Neighbours share their edges exactly; softened ones would show as seams.
  const ImDrawListFlags flags = list.Flags;
  list.Flags &= ~ImDrawListFlags_AntiAliasedFill;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const ImVec2 a = points[i], b = points[i + 1];
    if (b.x > a.x) list.AddQuadFilled(a, b, {b.x, inside_.bottom}, {a.x, inside_.bottom}, paint);
  }
  list.Flags = flags;
}

}  // namespace recut::gui

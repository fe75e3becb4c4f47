#include "gui/canvas/ink.h"

#include <algorithm>
#include <cmath>

namespace recut::gui {
namespace {

constexpr std::string_view kInkEllipsis = "…";

ImVec2 toward(ImVec2 from, ImVec2 to, float by) {
  const float dx = to.x - from.x, dy = to.y - from.y;
  const float length = std::max(1e-3f, std::abs(dx) + std::abs(dy));  // level or upright
  const float share = std::min(0.5f, by / length);
  return {from.x + dx * share, from.y + dy * share};
}

}  // namespace

float Ink::width(std::string_view text, const Type& type) const {
  const ImFont* font = ui_.fonts[type.face];
  return font
      ->CalcTextSizeA(font->FontSize * type.size, 1e9f, 0, text.data(), text.data() + text.size())
      .x;
}

// The longest beginning of the text that fits; ImGui walks the letters once.
std::string_view Ink::cut(std::string_view text, const Type& type, float room) const {
  if (room <= 0) return {};
  const ImFont* font = ui_.fonts[type.face];
  const char* end = text.data();
  font->CalcTextSizeA(font->FontSize * type.size, room, 0, text.data(), text.data() + text.size(),
                      &end);
  std::string_view fits = text.substr(0, static_cast<std::size_t>(end - text.data()));
  while (!fits.empty() && fits.back() == ' ') fits.remove_suffix(1);
  return fits;
}

void Ink::put(ImVec2 left_middle, std::string_view text, const Type& type) const {
  ImFont* font = ui_.fonts[type.face];
  const float baseline = left_middle.y + ui_.fonts.capital(type.face) * type.size / 2;
  const bool crisp = type.size == 1;
  float x = left_middle.x, y = baseline - font->Ascent * type.size;
  if (crisp) {
    x = std::round(x);
    y = std::round(y);
  }
  list_.AddText(font, font->FontSize * type.size, {x, y}, Ui::paint(type.colour, type.opacity),
                text.data(), text.data() + text.size());
}

float Ink::text(const Rect& rect, std::string_view text, const Type& type, Align align) const {
  if (rect.empty() || text.empty()) return 0;
  const float middle = (rect.top + rect.bottom) / 2;
  const float wide = width(text, type);
  ui_.items.add_text(text, rect);
  if (wide > rect.width()) {
    const float dots = width(kInkEllipsis, type);
    const std::string_view fits = cut(text, type, rect.width() - dots);
    if (dots > rect.width()) return 0;
    const float taken = fits.empty() ? 0 : width(fits, type);
    if (!fits.empty()) put({rect.left, middle}, fits, type);
    put({rect.left + taken, middle}, kInkEllipsis, type);
    return taken + dots;
  }
  const float spare = rect.width() - wide;
  const float shift = align == Align::left ? 0 : align == Align::right ? spare : spare / 2;
  put({rect.left + shift, middle}, text, type);
  return wide;
}

void Ink::dashed_across(float left, float right, float y, ImU32 colour, float width, float dash,
                        float gap) const {
  for (float x = left; x < right; x += dash + gap)
    quad(x, y, std::min(right, x + dash), y + width, colour);
}

void Ink::dashed(const Rect& rect, ImU32 colour, float width, float dash, float gap) const {
  // Dashes are spread so that each side begins and ends with one: corners are whole.
  const auto spread = [&](float length) {
    const float count = std::max(1.0f, std::round((length - dash) / (dash + gap)));
    return (length - dash) / count - dash;
  };
  const float across = spread(rect.width()), down = spread(rect.height());
  dashed_across(rect.left, rect.right, rect.top, colour, width, dash, across);
  dashed_across(rect.left, rect.right, rect.bottom - width, colour, width, dash, across);
  for (float y = rect.top; y < rect.bottom; y += dash + down) {
    const float end = std::min(rect.bottom, y + dash);
    quad(rect.left, y, rect.left + width, end, colour);
    quad(rect.right - width, y, rect.right, end, colour);
  }
}

void Ink::polyline(std::span<const ImVec2> points, ImU32 colour, float width, float bend) const {
  if (points.size() < 2) return;
  if (bend < 2 || points.size() == 2) {
    list_.AddPolyline(points.data(), static_cast<int>(points.size()), colour, 0, width);
    return;
  }
  list_.PathLineTo(points.front());
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const ImVec2 in = toward(points[i], points[i - 1], bend);
    const ImVec2 out = toward(points[i], points[i + 1], bend);
    list_.PathLineTo(in);
    list_.PathBezierQuadraticCurveTo(points[i], out, 4);
  }
  list_.PathLineTo(points.back());
  list_.PathStroke(colour, 0, width);
}

}  // namespace recut::gui

// Text: where it stands, and how it is cut and written.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gui/draw/ui.h"

namespace recut::gui {
namespace {

constexpr std::string_view kTextEllipsis = "…";
// Tolerance for a rectangle that is as wide as its text: sums and differences of floats may lose as
// much.
constexpr float kTextRounding = 0.5f;

// True if a cut before byte `at` falls between two code points.
bool between_letters(std::string_view text, std::size_t at) {
  return at >= text.size() || (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
}

// The largest count of bytes for which `fits` holds, it holding for all smaller ones.
template <class Fits>
std::size_t most_bytes(std::size_t bytes, const Fits& fits) {
  std::size_t low = 0, high = bytes;
  while (low < high) {
    const std::size_t middle = (low + high + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace

float Ui::width(std::string_view text, Face face) const {
  const ImFont* font = fonts[face];
  return font->CalcTextSizeA(font->FontSize, 1e9f, 0, text.data(), text.data() + text.size()).x;
}

void Ui::put(ImVec2 left_middle, std::string_view text, Face face, Colour colour) const {
  ImFont* font = fonts[face];
  const float baseline = left_middle.y + fonts.capital(face) / 2;
  const ImVec2 at{std::round(left_middle.x), std::round(baseline - font->Ascent)};
  ImGui::GetWindowDrawList()->AddText(font, font->FontSize, at, paint(colour), text.data(),
                                      text.data() + text.size());
}

float Ui::label(ImVec2 at, std::string_view text, Face face, Colour colour, Align align) const {
  const float wide = width(text, face);
  const float left = align == Align::left ? at.x : at.x - (align == Align::right ? wide : wide / 2);
  put({left, at.y}, text, face, colour);
  items.add_text(text, {left, at.y - 1, left + wide, at.y + 1});
  return wide;
}

float Ui::text(const Rect& rect, std::string_view text, Face face, Colour colour,
               Align align) const {
  if (rect.empty() || text.empty()) return 0;
  const float middle = (rect.top + rect.bottom) / 2;
  const float wide = width(text, face);
  items.add_text(text, rect);
  if (wide > rect.width() + kTextRounding) {
    const std::string cut = cut_end(*this, text, face, rect.width());
    items.add_cut(text, cut, rect);
    put({rect.left, middle}, cut, face, colour);
    return width(cut, face);
  }
  const float spare = rect.width() - wide;
  const float shift = align == Align::left ? 0 : align == Align::right ? spare : spare / 2;
  put({rect.left + shift, middle}, text, face, colour);
  return wide;
}

float Ui::fitting(const Rect& rect, const std::vector<std::string>& variants, Face face,
                  Colour colour, Align align) const {
  for (const std::string& one : variants)
    if (width(one, face) <= rect.width() + kTextRounding)
      return text(rect, one, face, colour, align);
  return 0;
}

float Ui::path(const Rect& rect, std::string_view whole, Face face, Colour colour) const {
  if (width(whole, face) <= rect.width() + kTextRounding) return text(rect, whole, face, colour);
  items.add_text(whole, rect);
  const std::string cut = cut_front(*this, whole, face, rect.width());
  items.add_cut(whole, cut, rect);
  put({rect.left, (rect.top + rect.bottom) / 2}, cut, face, colour);
  return width(cut, face);
}

// ImGui breaks behind every full stop and comma, and so within "1.24 GiB".
std::vector<std::string_view> wrapped_lines(const Ui& ui, std::string_view text, float width,
                                            Face face) {
  std::vector<std::string_view> lines;
  const auto fits = [&](std::size_t n) {
    return ui.width(text.substr(0, n), face) <= width + kTextRounding;
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::size_t taken = 0;  // up to the last blank that fits
    for (std::size_t at = 0; at < end;) {
      at = std::min(text.find(' ', at + 1), end);
      if (taken > 0 && !fits(at)) break;
      taken = at;
    }
    if (taken > 1 && !fits(taken)) {  // a word that is wider than a line
      taken = std::max<std::size_t>(1, most_bytes(taken, fits));
      while (taken < end && !between_letters(text, taken)) ++taken;
    }
    lines.push_back(text.substr(0, taken));
    text.remove_prefix(taken);
    if (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  }
  return lines;
}

float wrapped_height(const Ui& ui, std::string_view text, float width, Face face) {
  const auto lines = std::max<std::size_t>(1, wrapped_lines(ui, text, width, face).size());
  return static_cast<float>(lines) * ui.fonts[face]->FontSize;
}

void wrapped(const Ui& ui, const Rect& rect, std::string_view text, Colour colour, Face face) {
  ImFont* font = ui.fonts[face];
  ImVec2 at = rect.corner();
  for (const std::string_view line : wrapped_lines(ui, text, rect.width(), face)) {
    ImGui::GetWindowDrawList()->AddText(font, font->FontSize, at, Ui::paint(colour), line.data(),
                                        line.data() + line.size());
    at.y += font->FontSize;
  }
  ui.items.add_text(text, rect);
}

std::string cut_end(const Ui& ui, std::string_view text, Face face, float width) {
  const float room = width - ui.width(kTextEllipsis, face);
  if (room <= 0) return {};
  std::size_t bytes = most_bytes(
      text.size(), [&](std::size_t n) { return ui.width(text.substr(0, n), face) <= room; });
  while (bytes > 0 && !between_letters(text, bytes)) --bytes;
  while (bytes > 0 && text[bytes - 1] == ' ') --bytes;
  return std::string(text.substr(0, bytes)) + std::string(kTextEllipsis);
}

std::string cut_front(const Ui& ui, std::string_view text, Face face, float width) {
  const float room = width - ui.width(kTextEllipsis, face);
  if (room <= 0) return {};
  std::size_t bytes = most_bytes(text.size(), [&](std::size_t n) {
    return ui.width(text.substr(text.size() - n), face) <= room;
  });
  while (bytes > 0 && !between_letters(text, text.size() - bytes)) --bytes;
  return std::string(kTextEllipsis) + std::string(text.substr(text.size() - bytes));
}

}  // namespace recut::gui

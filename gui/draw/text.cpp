// Text: where it stands, and how it is cut and written.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gui/draw/ui.h"

namespace recut::gui {
namespace {

constexpr std::string_view kTextEllipsis = "…";
// Of a place that was made as wide as its words: what adding and taking away may lose.
constexpr float kTextRounding = 0.5f;

// True if a cut before byte `at` falls between two code points.
bool between_letters(std::string_view words, std::size_t at) {
  return at >= words.size() || (static_cast<unsigned char>(words[at]) & 0xc0) != 0x80;
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

float Ui::width(std::string_view words, Face face) const {
  const ImFont* font = fonts[face];
  return font->CalcTextSizeA(font->FontSize, 1e9f, 0, words.data(), words.data() + words.size()).x;
}

void Ui::put(ImVec2 left_middle, std::string_view words, Face face, Colour colour) const {
  ImFont* font = fonts[face];
  const float baseline = left_middle.y + fonts.capital(face) / 2;
  const ImVec2 at{std::round(left_middle.x), std::round(baseline - font->Ascent)};
  ImGui::GetWindowDrawList()->AddText(font, font->FontSize, at, paint(colour), words.data(),
                                      words.data() + words.size());
}

float Ui::label(ImVec2 at, std::string_view words, Face face, Colour colour, Align align) const {
  const float wide = width(words, face);
  const float left = align == Align::left ? at.x : at.x - (align == Align::right ? wide : wide / 2);
  put({left, at.y}, words, face, colour);
  items.add_text(words, {left, at.y - 1, left + wide, at.y + 1});
  return wide;
}

float Ui::text(const Rect& rect, std::string_view words, Face face, Colour colour,
               Align align) const {
  if (rect.empty() || words.empty()) return 0;
  const float middle = (rect.top + rect.bottom) / 2;
  const float wide = width(words, face);
  items.add_text(words, rect);
  if (wide > rect.width() + kTextRounding) {
    const std::string cut = cut_end(*this, words, face, rect.width());
    items.add_cut(words, cut, rect);
    put({rect.left, middle}, cut, face, colour);
    return width(cut, face);
  }
  const float spare = rect.width() - wide;
  const float shift = align == Align::left ? 0 : align == Align::right ? spare : spare / 2;
  put({rect.left + shift, middle}, words, face, colour);
  return wide;
}

float Ui::fitting(const Rect& rect, const std::vector<std::string>& words, Face face, Colour colour,
                  Align align) const {
  for (const std::string& one : words)
    if (width(one, face) <= rect.width() + kTextRounding)
      return text(rect, one, face, colour, align);
  return 0;
}

float Ui::path(const Rect& rect, std::string_view words, Face face, Colour colour) const {
  if (width(words, face) <= rect.width() + kTextRounding) return text(rect, words, face, colour);
  items.add_text(words, rect);
  const std::string cut = cut_front(*this, words, face, rect.width());
  items.add_cut(words, cut, rect);
  put({rect.left, (rect.top + rect.bottom) / 2}, cut, face, colour);
  return width(cut, face);
}

// ImGui breaks behind every full stop and comma, and so within "1.24 GiB".
std::vector<std::string_view> wrapped_lines(const Ui& ui, std::string_view words, float width,
                                            Face face) {
  std::vector<std::string_view> lines;
  const auto fits = [&](std::size_t n) {
    return ui.width(words.substr(0, n), face) <= width + kTextRounding;
  };
  while (!words.empty()) {
    const std::size_t end = std::min(words.find('\n'), words.size());
    std::size_t taken = 0;  // up to the last blank that fits
    for (std::size_t at = 0; at < end;) {
      at = std::min(words.find(' ', at + 1), end);
      if (taken > 0 && !fits(at)) break;
      taken = at;
    }
    if (taken > 1 && !fits(taken)) {  // a word that is wider than a line
      taken = std::max<std::size_t>(1, most_bytes(taken, fits));
      while (taken < end && !between_letters(words, taken)) ++taken;
    }
    lines.push_back(words.substr(0, taken));
    words.remove_prefix(taken);
    if (!words.empty() && (words.front() == ' ' || words.front() == '\n')) words.remove_prefix(1);
  }
  return lines;
}

float wrapped_height(const Ui& ui, std::string_view words, float width, Face face) {
  const auto lines = std::max<std::size_t>(1, wrapped_lines(ui, words, width, face).size());
  return static_cast<float>(lines) * ui.fonts[face]->FontSize;
}

void wrapped(const Ui& ui, const Rect& rect, std::string_view words, Colour colour, Face face) {
  ImFont* font = ui.fonts[face];
  ImVec2 at = rect.corner();
  for (const std::string_view line : wrapped_lines(ui, words, rect.width(), face)) {
    ImGui::GetWindowDrawList()->AddText(font, font->FontSize, at, Ui::paint(colour), line.data(),
                                        line.data() + line.size());
    at.y += font->FontSize;
  }
  ui.items.add_text(words, rect);
}

std::string cut_end(const Ui& ui, std::string_view words, Face face, float width) {
  const float room = width - ui.width(kTextEllipsis, face);
  if (room <= 0) return {};
  std::size_t bytes = most_bytes(
      words.size(), [&](std::size_t n) { return ui.width(words.substr(0, n), face) <= room; });
  while (bytes > 0 && !between_letters(words, bytes)) --bytes;
  while (bytes > 0 && words[bytes - 1] == ' ') --bytes;
  return std::string(words.substr(0, bytes)) + std::string(kTextEllipsis);
}

std::string cut_front(const Ui& ui, std::string_view words, Face face, float width) {
  const float room = width - ui.width(kTextEllipsis, face);
  if (room <= 0) return {};
  std::size_t bytes = most_bytes(words.size(), [&](std::size_t n) {
    return ui.width(words.substr(words.size() - n), face) <= room;
  });
  while (bytes > 0 && !between_letters(words, words.size() - bytes)) --bytes;
  return std::string(kTextEllipsis) + std::string(words.substr(words.size() - bytes));
}

}  // namespace recut::gui

#include "gui/panels/text_line.h"

#include <fmt/core.h>

#include <algorithm>

namespace recut::gui {
namespace {

constexpr std::size_t kTextLineMaxBytes = 1200;  // more than fits on any screen
constexpr float kTextLineNumber = 40, kSign = 18;

// Up to a letter's border.
std::string_view beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

struct TextLinePiece {
  std::string_view text;
  Colour colour = 0;
};

// A node's line in its parts: name, operator, arguments, type, where it comes from.
std::vector<TextLinePiece> text_line_pieces_of(const Theme& theme, std::string_view line) {
  std::vector<TextLinePiece> pieces;
  const auto take = [&](std::size_t end, Colour colour) {
    end = std::min(end, line.size());
    if (end > 0) pieces.push_back({line.substr(0, end), colour});
    line.remove_prefix(end);
  };
  const std::size_t equals = line.find(" = ");
  if (equals == std::string_view::npos) {
    take(line.size(), theme.dim);
    return pieces;
  }
  take(equals, theme.text);
  take(3, theme.faint);
  const std::size_t word = line.find_first_of("( ");
  take(word, theme.selection);
  const std::size_t type = line.rfind(") : ");
  if (type != std::string_view::npos) take(type + 1, theme.dim);
  const std::size_t origin = line.find("  ");
  take(origin == std::string_view::npos ? line.size() : origin, theme.faint);
  take(line.size(), mix(theme.panel, theme.faint, 0.8));
  return pieces;
}

// A background behind the bytes in which this line differs from its partner.
void mark_changed(const Ui& ui, const Rect& rect, std::string_view text, std::string_view other,
                  Colour colour) {
  const Shared shared = shared_part(text, other);
  const std::size_t end = text.size() - shared.back;
  if (shared.front >= end) return;
  const float left =
      ui.width(beginning(text, std::min(shared.front, kTextLineMaxBytes)), Face::mono);
  const float right = ui.width(beginning(text, std::min(end, kTextLineMaxBytes)), Face::mono);
  ui.fill({rect.left + left, rect.top + ui.px(2), rect.left + right, rect.bottom - ui.px(2)},
          colour, ui.px(2), 0.26);
}

void numbers(const Ui& ui, Rect& row, const DiffLine& line) {
  const auto number = [&](std::size_t at, bool there) {
    const Rect cell = row.cut_left(ui.px(kTextLineNumber));
    if (there)
      ui.text(cell, fmt::format("{}", at + 1), Face::mono_small,
              mix(ui.theme.panel, ui.theme.faint, 0.8), Align::right);
  };
  number(line.before, line.edit != Edit::added);
  number(line.after, line.edit != Edit::removed);
}

}  // namespace

Colour colour_of(const Theme& theme, Edit edit) {
  if (edit == Edit::removed) return theme.conflict;
  return edit == Edit::added ? theme.result : theme.panel;
}

void draw_text_line(const Ui& ui, const Rect& row, const TextDifference& difference,
                    const DiffLine& line) {
  const Colour colour = colour_of(ui.theme, line.edit);
  Rect rest = row;
  if (line.edit != Edit::same) ui.fill(row, colour, 0, 0.09);
  numbers(ui, rest, line);
  const Rect sign = rest.cut_left(ui.px(kSign));
  if (line.edit != Edit::same)
    ui.text(sign, line.edit == Edit::removed ? "−" : "+", Face::mono, colour, Align::centre);
  const std::string& text = difference.text(line);
  if (line.partner != kNoLine)
    mark_changed(ui, rest, text, difference.text(difference.lines[line.partner]), colour);
  const float middle = rest.centre().y;
  float left = rest.left;
  for (const TextLinePiece& piece :
       text_line_pieces_of(ui.theme, beginning(text, kTextLineMaxBytes))) {
    if (left > rest.right) break;
    left += ui.label({left, middle}, piece.text, Face::mono, piece.colour);
  }
}

}  // namespace recut::gui

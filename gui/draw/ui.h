// The drawing interface of panels: colours of the theme, shapes, text, on ImGui's draw list of the
// current window. Lengths given as plain numbers are pixels; px() makes pixels of units.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "gui/draw/fonts.h"
#include "gui/draw/geometry.h"
#include "gui/draw/items.h"
#include "gui/model/role.h"
#include "gui/theme.h"

namespace recut::gui {

enum class Align : unsigned char { left, centre, right };

Colour colour_of(const Theme& theme, Role role);
Colour colour_of(const Theme& theme, BudgetAnswer answer);

// Common measures, in units.
inline constexpr float kRow = 23, kPadding = 14, kRadius = 4, kGap = 4;
inline constexpr float kFinger = 44;  // the least that a finger hits for sure

class Ui {
 public:
  Ui(const Theme& theme, const Fonts& fonts, float scale, Items& items, bool fingers = false)
      : theme(theme), fonts(fonts), scale(scale), items(items), fingers(fingers) {}

  const Theme& theme;
  const Fonts& fonts;
  const float scale;
  Items& items;
  const bool fingers;  // point, and no mouse

  // Size of a pressed widget in whole pixels: `units` for a mouse, more for a finger.
  float target(float units) const;
  float px(float units) const { return units * scale; }
  // The length in whole pixels, at least one, for lines and gaps that must be crisp.
  float whole(float units) const;

  // Shapes. `opacity` 0 … 1.
  static ImU32 paint(Colour colour, double opacity = 1);
  void fill(const Rect& rect, Colour colour, float radius = 0, double opacity = 1) const;
  void frame(const Rect& rect, Colour colour, float radius = 0, float width = 1) const;
  void dashed_frame(const Rect& rect, Colour colour, float radius, float width = 1) const;
  void line(ImVec2 a, ImVec2 b, Colour colour, float width = 1, double opacity = 1) const;
  void dashed_line(ImVec2 a, ImVec2 b, Colour colour, float width, float dash, float gap) const;
  void circle(ImVec2 centre, float radius, Colour fill) const;
  void ring(ImVec2 centre, float radius, Colour colour, float width = 1) const;
  void cross(ImVec2 centre, float arm, Colour colour, float width) const;
  void diamond(ImVec2 centre, float radius, Colour colour) const;
  // The sign of a role, in a square of 12 units: amber square, violet dashed ring, grey outline,
  // green diamond.
  void sign(ImVec2 centre, Role role) const;

  // Text, cut with "…" where it is wider than the rectangle; centred in it by the height of
  // capitals. Returns the width that it took.
  float text(const Rect& rect, std::string_view text, Face face, Colour colour,
             Align align = Align::left) const;
  // Draws the first of the texts that fits uncut (so the longest come first); nothing if none does.
  float fitting(const Rect& rect, const std::vector<std::string>& variants, Face face,
                Colour colour, Align align = Align::left) const;
  // Draws text cut at the beginning, for paths.
  float path(const Rect& rect, std::string_view text, Face face, Colour colour) const;
  // Draws text uncut, with its left end, middle or right end at `at`, centred by height.
  float label(ImVec2 at, std::string_view text, Face face, Colour colour,
              Align align = Align::left) const;
  float width(std::string_view text, Face face) const;

 private:
  void put(ImVec2 left_middle, std::string_view text, Face face, Colour colour) const;
};

// A text on as many lines as it takes, broken at blanks, and at '\n'; a word that is wider than a
// line is broken between letters.
std::vector<std::string_view> wrapped_lines(const Ui& ui, std::string_view text, float width,
                                            Face face = Face::small);
float wrapped_height(const Ui& ui, std::string_view text, float width, Face face = Face::small);
void wrapped(const Ui& ui, const Rect& rect, std::string_view text, Colour colour,
             Face face = Face::small);

// The longest beginning (or end) that fits, with "…".
std::string cut_end(const Ui& ui, std::string_view text, Face face, float width);
std::string cut_front(const Ui& ui, std::string_view text, Face face, float width);

}  // namespace recut::gui

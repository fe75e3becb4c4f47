// Strokes that a canvas draws thousands of: text of any size, dashed boxes as quads, polylines with
// round bends.
#pragma once

#include <span>
#include <string_view>

#include "gui/draw/ui.h"

namespace recut::gui {

class Ink {
 public:
  explicit Ink(const Ui& ui) : ui_(ui), list_(*ImGui::GetWindowDrawList()) {}

  struct Type {
    Face face = Face::text;
    float size = 1;  // of the face's own
    Colour colour = 0;
    double opacity = 1;
  };
  float width(std::string_view text, const Type& type) const;
  // Draws text centred by height, cut with "…" if it is wider than the rectangle. Returns its
  // width.
  float text(const Rect& rect, std::string_view text, const Type& type,
             Align align = Align::left) const;

  // Draws a dashed box with square corners, at whole pixels.
  void dashed(const Rect& rect, ImU32 colour, float width, float dash, float gap) const;
  void dashed_across(float left, float right, float y, ImU32 colour, float width, float dash,
                     float gap) const;
  void polyline(std::span<const ImVec2> points, ImU32 colour, float width, float bend) const;

 private:
  std::string_view cut(std::string_view text, const Type& type, float room) const;
  void put(ImVec2 left_middle, std::string_view text, const Type& type) const;
  void quad(float left, float top, float right, float bottom, ImU32 colour) const {
    list_.AddRectFilled({left, top}, {right, bottom}, colour);
  }

  const Ui& ui_;
  ImDrawList& list_;
};

}  // namespace recut::gui

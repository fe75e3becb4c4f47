// Writes SVG: the few shapes that pictures are made of, with text escaped and numbers short.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gui/theme.h"

namespace recut::gui {

struct PicturePoint {
  double x = 0;
  double y = 0;
};

enum class Anchor { start, middle, end };

struct TextStyle {
  Colour colour = 0;
  double size = 12;
  int weight = 400;
  Anchor anchor = Anchor::start;
  bool mono = false;
};

class Svg {
 public:
  Svg(double width, double height, Colour background);

  void line(PicturePoint a, PicturePoint b, Colour colour, double width = 1,
            std::string_view dashes = {});
  void rectangle(PicturePoint corner, double width, double height, Colour fill, double radius = 0,
                 double opacity = 1);
  void outline(PicturePoint corner, double width, double height, Colour stroke, double radius,
               std::string_view dashes = {});
  void circle(PicturePoint centre, double radius, Colour fill, Colour stroke);
  void polygon(const std::vector<PicturePoint>& points, Colour fill, double opacity = 1);
  void polyline(const std::vector<PicturePoint>& points, Colour stroke, double width,
                std::string_view dashes = {});
  void text(PicturePoint at, std::string_view words, const TextStyle& style);
  // Shows while the pointer rests on the rectangle.
  void hint(PicturePoint corner, double width, double height, std::string_view words);

  std::string finish() &&;

 private:
  std::string body_;
};

// Width of a text in pixels, near enough to keep labels apart and inside the picture.
double text_width(std::string_view words, const TextStyle& style);

}  // namespace recut::gui

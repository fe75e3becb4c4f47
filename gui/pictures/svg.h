// Writes SVG: the few shapes of pictures, with text escaped and numbers short. Keeps the areas of
// labels, so that further labels don't overlap them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gui/pictures/look.h"
#include "gui/pictures/typeface.h"

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

// A possible position of a label.
struct LabelPosition {
  PicturePoint at;
  Anchor anchor = Anchor::start;
};

struct LabelBox {
  double left = 0, top = 0, right = 0, bottom = 0;
  bool meets(const LabelBox& o) const {
    return left < o.right && o.left < right && top < o.bottom && o.top < bottom;
  }
  bool inside(const LabelBox& o) const {
    return left >= o.left && right <= o.right && top >= o.top && bottom <= o.bottom;
  }
};

// Occupied areas of labels, so that no two labels overlap.
class LabelSpace {
 public:
  void take(const LabelBox& box);
  bool is_free(const LabelBox& box) const;

 private:
  // The labels by rows of the picture; looked up, never walked.
  std::unordered_map<int, std::vector<LabelBox>> rows_;
};

class Svg {
 public:
  Svg(const PictureLook& look, Colour ground) : look_(look), ground_(ground) {}

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
  // Draws an arrow's head at the end of the line from `from` to `tip`.
  void arrowhead(PicturePoint from, PicturePoint tip, Colour fill, double size);
  void text(PicturePoint at, std::string_view text, const TextStyle& style);
  // Adds a hint that shows while the pointer rests on the rectangle.
  void hint(PicturePoint corner, double width, double height, std::string_view text);

  // Keeps labels inside the area; without it they may be anywhere.
  void keep_labels_in(const LabelBox& area) { room_ = area; }
  // No label may stand here.
  void keep_clear(const LabelBox& box) { marks_.take(box); }
  // Keeps labels away, unless there is no other place.
  void keep_clear_if_possible(PicturePoint from, PicturePoint to);
  bool is_free(const LabelBox& box, bool strictly) const;

  // Writes the first of the texts, longest first, that has a free position; false if none has. If
  // all of them would cross a line, the first does so, unless `strictly`.
  bool label(const std::vector<LabelPosition>& positions, const std::vector<std::string>& variants,
             TextStyle style, bool strictly = false);

  // The picture of this area with its background; `name` is its name for a screen reader.
  std::string finish(const LabelBox& area, std::string_view name) &&;

 private:
  std::string styles() const;

  PictureLook look_;
  Colour ground_;
  std::string body_;
  std::array<Letters, kTypefaces> letters_;
  LabelBox room_{-1e9, -1e9, 1e9, 1e9};
  LabelSpace marks_, lines_;
};

// Width of a text in units, by the typeface that it is set in.
double text_width(std::string_view text, const TextStyle& style);

// The box of a text, from the top of its capitals to the bottom of its descenders.
LabelBox text_box(PicturePoint at, std::string_view text, const TextStyle& style);

// As much of the text as fits, with "…" at the end if it was cut.
std::string fitted(std::string_view text, const TextStyle& style, double room);

}  // namespace recut::gui

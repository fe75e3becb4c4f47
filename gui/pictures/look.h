// The look of a picture: for a screen as wide as it likes, for a page of a report, or for a column
// of a paper, where its text has to be large enough in print.
#pragma once

#include "gui/theme.h"

namespace recut::gui {

struct PictureLook {
  // The look on a screen: its own width, a title, the reader's own fonts.
  PictureLook(const Theme& colours) : theme(&colours) {}  // NOLINT: a theme is such a look

  const Theme* theme;
  double width = 0;     // units that a plot is laid out for; 0: its own width
  double print_mm = 0;  // the width on paper; 0: a unit is a pixel
  bool title = true;    // inside the picture; a paper's caption says it
  bool fonts = false;   // the letters come with the picture
};

// Minimum sizes: of text on paper in points, and of a plot's text in units.
inline constexpr double kMinPoints = 7, kMinText = 11;
inline constexpr double kPointsInMm = 72 / 25.4;

// The look in a column that is `mm` wide: the least text has kMinPoints; no title; with its fonts.
inline PictureLook printed(const Theme& theme, double mm) {
  PictureLook look(theme);
  look.print_mm = mm;
  look.width = mm * kPointsInMm * kMinText / kMinPoints;
  look.title = false;
  look.fonts = true;
  return look;
}

// The look on a phone: text of eleven pixels in a picture that is 360 wide.
inline PictureLook narrow(const Theme& theme) {
  PictureLook look(theme);
  look.width = 360;
  look.title = false;
  return look;
}

}  // namespace recut::gui

// Drawing options: --dark, --width, --no-title, --no-fonts.
#pragma once

#include <CLI/App.hpp>

#include "gui/pictures/look.h"

namespace recut::native {

struct PictureArguments {
  bool dark = false;
  bool no_title = false;
  bool no_fonts = false;
  double width_mm = 0;  // on paper; 0: as on a screen

  void add_to(CLI::App& command);
  // The default is light, with embedded fonts.
  gui::PictureLook look() const;
};

}  // namespace recut::native

#include "native/commands/picture_options.h"

#include <fmt/core.h>

#include <cstdlib>
#include <string>

namespace recut::native {
namespace {

constexpr double kNarrowestColumn = 40, kWidestColumn = 1000;  // millimetres

// A width such as "84mm" or "3.3in" in millimetres; 0 for other texts.
double millimetres(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  constexpr double kInch = 25.4;
  const double scale = unit == "mm"   ? 1
                       : unit == "cm" ? 10
                       : unit == "in" ? kInch
                       : unit == "pt" ? kInch / 72
                                      : 0;
  const double mm = number * scale;
  return mm >= kNarrowestColumn && mm <= kWidestColumn ? mm : 0;
}

}  // namespace

void PictureArguments::add_to(CLI::App& command) {
  command.add_flag("--dark", dark, "Draw the picture on a dark background");
  command
      .add_option_function<std::string>(
          "--width", [this](const std::string& text) { width_mm = millimetres(text); },
          fmt::format("Width of a paper's column: 84mm, 3.3in, 240pt (default: none). Text has at "
                      "least {:g} points, and the title is left to the caption",
                      gui::kMinPoints))
      ->check([](const std::string& text) {
        return millimetres(text) > 0
                   ? std::string()
                   : fmt::format("'{}' is no width from {:g}mm to {:g}mm, such as 84mm or 3.3in",
                                 text, kNarrowestColumn, kWidestColumn);
      })
      ->type_name("WIDTH");
  command.add_flag("--no-title", no_title, "Leave the title out of the picture");
  command.add_flag("--no-fonts", no_fonts,
                   "Name the picture's fonts without embedding them in the file");
}

gui::PictureLook PictureArguments::look() const {
  const gui::Theme& theme = dark ? gui::kDark : gui::kLight;
  gui::PictureLook look = width_mm > 0 ? gui::printed(theme, width_mm) : gui::PictureLook(theme);
  look.fonts = !no_fonts;
  if (no_title) look.title = false;
  return look;
}

}  // namespace recut::native

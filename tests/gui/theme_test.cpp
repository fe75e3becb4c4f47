// That words can be read: their colours against the grounds that they stand on, as WCAG counts it.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <utility>

#include "gui/theme.h"

namespace recut::gui {
namespace {

constexpr double kLeastContrast = 4.5;
constexpr double kLeastOfShapes = 3;

double luminance(Colour colour) {
  const auto part = [&](int shift, double weight) {
    const double x = ((colour >> shift) & 0xff) / 255.0;
    return weight * (x <= 0.03928 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4));
  };
  return part(16, 0.2126) + part(8, 0.7152) + part(0, 0.0722);
}

double contrast(Colour a, Colour b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

TEST_CASE("theme: words stand out from every ground", "[gui]") {
  for (const Theme* theme : {&kDark, &kLight})
    for (const Colour ground : {theme->background, theme->panel, theme->raised})
      for (const Colour ink : {theme->text, theme->dim, theme->faint}) {
        CAPTURE(css(ground), css(ink));
        CHECK(contrast(ground, ink) >= kLeastContrast);
      }
}

// A frame stands on the background and around a ground between it and the panel's.
TEST_CASE("theme: frames of groups stand out from what is around and in them", "[gui]") {
  for (const Theme* theme : {&kDark, &kLight})
    for (const double share : {0.0, 0.55, 0.85})
      CHECK(contrast(mix(theme->background, theme->panel, share), theme->frame) >= kLeastOfShapes);
}

TEST_CASE("theme: text, dim and faint can be told apart", "[gui]") {
  for (const Theme* theme : {&kDark, &kLight}) {
    CHECK(contrast(theme->panel, theme->text) > contrast(theme->panel, theme->dim) * 1.2);
    CHECK(contrast(theme->panel, theme->dim) > contrast(theme->panel, theme->faint) * 1.15);
  }
}

}  // namespace
}  // namespace recut::gui

// The camera over a graph that is far higher than wide: never a thread, and the pointer stays true.
#include "gui/canvas/camera.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace recut::gui {
namespace {

using Catch::Approx;

constexpr Rect kArea{100, 50, 900, 650};
constexpr layout::Rect kTower{-800, 0, 800, 170'000};

TEST_CASE("camera: what is fitted is as wide as can be read, and all of its height shows",
          "[gui]") {
  for (const float scale : {1.0f, 2.0f}) {
    const Camera camera = fit(kTower, kArea, scale, 1);
    const View view(kArea, camera, scale, kTower);
    const Rect shown = view.at(kTower);
    const double least = std::max(View::kColumn * scale, View::kShare * 800);
    CHECK(shown.width() == Approx(std::min(least, 400.0)).margin(1));
    CHECK(shown.top >= kArea.top);
    CHECK(shown.bottom <= kArea.bottom);
    CHECK(shown.left >= kArea.left);
    CHECK(shown.right <= kArea.right);
  }
}

TEST_CASE("camera: nearer there is no stretching", "[gui]") {
  const View view(kArea, {0, 0, 0.5}, 1, kTower);
  CHECK(view.pixels_across() == view.pixels());
  CHECK(View(kArea, {0, 0, 1e-3}, 1).pixels_across() == Approx(1e-3));  // of unknown bounds
  const View flat(kArea, {0, 0, 0.02}, 1, {-800, 0, 800, 1000});        // wider than high
  CHECK(flat.pixels_across() == flat.pixels());
}

TEST_CASE("camera: where names are read, no graph is stretched to a share of the area", "[gui]") {
  constexpr Rect kWide{0, 0, 2400, 1200};
  for (const float wide : {500.0f, 1200.0f, 3000.0f}) {
    CAPTURE(wide);
    const layout::Rect tower{0, 0, wide, 60'000};
    for (const double zoom : {View::kNamed, 0.85, 1.0}) {
      const View view(kWide, {0, 0, zoom}, 1, tower);
      CHECK(view.pixels_across() == view.pixels());
    }
    // Nearer is never narrower.
    float before = 0;
    for (double zoom = 0.004; zoom < 1; zoom *= 1.2) {
      const View view(kWide, {0, 0, zoom}, 1, tower);
      CHECK(view.pixels_across() >= before);
      before = view.pixels_across();
    }
  }
}

TEST_CASE("camera: a graph never shrinks to nothing", "[gui]") {
  const View view(kArea, {0, 0, 0.5}, 1, kTower);
  const Camera far = zoomed(view, {300, 200}, 1, 1e-9);
  CHECK(far.zoom * static_cast<double>(kTower.height()) == Approx(64));
  CHECK(least_zoom({0, 0, 100, 50}) <= 0.25);  // of a small one, too
  CHECK(least_zoom({}) == kMinZoom);
}

TEST_CASE("camera: points go there and back, and stay under the pointer", "[gui]") {
  const ImVec2 pointer{300, 200};
  for (const double zoom : {0.003, 0.05, 0.149, 0.151, 2.0}) {
    CAPTURE(zoom);
    const View view(kArea, {40, 9000, zoom}, 1, kTower);
    const layout::Point under = view.under(pointer);
    CHECK(view.x(under.x) == Approx(pointer.x).margin(0.1));
    CHECK(view.y(under.y) == Approx(pointer.y).margin(0.1));
    const View nearer(kArea, zoomed(view, pointer, 1, zoom * 1.3), 1, kTower);
    CHECK(nearer.x(under.x) == Approx(pointer.x).margin(0.5));
    CHECK(nearer.y(under.y) == Approx(pointer.y).margin(0.5));
    const View along(kArea, moved(view, 30, -20), 1, kTower);
    CHECK(along.x(under.x) == Approx(pointer.x + 30).margin(0.5));
    CHECK(along.y(under.y) == Approx(pointer.y - 20).margin(0.5));
  }
}

}  // namespace
}  // namespace recut::gui

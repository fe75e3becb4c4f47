// Where the camera first looks, and what it frames: names that can be read, of what matters.
#include "gui/canvas/framing.h"

#include <fmt/core.h>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "gui/canvas/canvas.h"
#include "tests/gui/window.h"
#include "tests/paths.h"

namespace recut::gui {
namespace {

constexpr float kOuter = layout::kChannel / 2 + layout::kBoxWidth;  // of a box beside the channel

// Calls of a module's own, as a causal mask has them, then blocks that are alike.
std::string with_blocks(int before, int blocks) {
  std::string text = "graph \"blocks\" {\n  %n0 = input f32[8]\n";
  int node = 0;
  const auto call = [&](const std::string& module) {
    text += fmt::format("  %n{} = tanh(%n{})  @\"{}\"\n", node + 1, node, module);
    ++node;
  };
  for (int i = 0; i < before; ++i) call("m");
  for (int block = 0; block < blocks; ++block)
    for (int i = 0; i < 4; ++i) call(fmt::format("m.h.{}", block));
  return text + fmt::format("  results %n{}\n  gradients none\n}}\n", node);
}

TEST_CASE("framing: the first view is of the blocks that make up the graph", "[gui][canvas]") {
  NullBackend backend;
  backend.files["made.recut"] = with_blocks(40, 12);
  Window window(bare_options(), std::move(backend));
  window.app.open("made.recut");
  window.settle();
  const Canvas& canvas = canvas_of(window.app.document()->memories);
  REQUIRE(canvas.picture != nullptr);
  const layout::Rect body = main_body(*canvas.picture), seen = canvas.view().visible();
  const layout::Rect& all = canvas.picture->layout.bounds;
  CHECK(body.top > all.top + 20 * layout::kPitch);
  CHECK(seen.top > all.top);
  CHECK(seen.top < body.top);
  CHECK(body.top - seen.top < (seen.bottom - seen.top) / 4);
  CHECK(canvas.at.zoom >= 0.7);
}

TEST_CASE("framing: a graph without much that is alike is seen from its top", "[gui][canvas]") {
  NullBackend backend;
  backend.files["made.recut"] = with_blocks(60, 2);
  Window window(bare_options(), std::move(backend));
  window.app.open("made.recut");
  window.settle();
  const Canvas& canvas = canvas_of(window.app.document()->memories);
  REQUIRE(canvas.picture != nullptr);
  CHECK(canvas.view().visible().top <= canvas.picture->layout.bounds.top);
}

TEST_CASE("framing: both columns where there is room, forward's where there is not", "[gui]") {
  const Rect wide{10, 0, 1210, 600}, phone{0, 0, 360, 500};
  constexpr float kSpare = 82;
  const View both(wide, columns_camera(wide, 1, kOuter, kSpare, 0.7, 0.85), 1);
  CHECK(both.x(-kOuter) >= wide.left);
  CHECK(both.x(kOuter) <= wide.right - kSpare);
  CHECK((both.x(-kOuter) + both.x(kOuter)) / 2 ==
        Catch::Approx((wide.left + wide.right - kSpare) / 2).margin(1));
  const View one(phone, columns_camera(phone, 1, kOuter, 0, 0.7, 0.85), 1);
  CHECK(one.zoom() >= 0.7f);
  CHECK(one.x(-kOuter) >= phone.left);
  CHECK(one.x(-layout::kChannel / 2) <= phone.right);
}

TEST_CASE("framing: Fit shows a tower whole, and wide enough to be looked at", "[gui][canvas]") {
  Window window(bare_options());
  window.backend.resize({1600, 1000}, 1);
  window.app.open(RECUT_SOURCE_DIR "/samples/joint/gpt2.json.gz");
  window.settle();
  const Canvas& canvas = canvas_of(window.app.document()->memories);
  REQUIRE(canvas.picture != nullptr);
  const double first = canvas.at.zoom;
  REQUIRE(window.app.run("graph.fit").ok());
  window.settle();
  REQUIRE(canvas.at == canvas.camera);
  CHECK(canvas.at.zoom < first);
  const Rect shown = canvas.view().at(canvas.picture->layout.bounds);
  CAPTURE(canvas.at.zoom, shown.width(), canvas.area.width());
  CHECK(shown.width() >= 0.35f * canvas.area.width());
  CHECK(shown.left >= canvas.area.left);
  CHECK(shown.right <= canvas.area.right);
  CHECK(shown.top >= canvas.area.top);
  CHECK(shown.bottom <= canvas.area.bottom);
  CHECK(shown.height() >= 0.8f * canvas.area.height());
}

TEST_CASE("framing: a neighbourhood is all in sight, or the node that it is of", "[gui][canvas]") {
  Window window(bare_options(), Window::sample_backend());
  window.app.open("sample:tiny_conv");
  window.settle();
  const auto order = window.app.document()->graph_at_pass().order();
  for (const std::size_t at : {order.size() / 3, order.size() / 2, order.size() - 2}) {
    const NodeId node = order[at];
    const std::string name = window.app.document()->graph_at_pass().node_name(node);
    CAPTURE(name);
    REQUIRE(window.app.run("select.node", name).ok());
    REQUIRE(window.app.run("graph.focus", "2").ok());
    window.settle();
    const Canvas& canvas = canvas_of(window.app.document()->memories);
    const layout::BoxId box = canvas.picture->own_box(node);
    REQUIRE(box.valid());
    const layout::Rect seen = canvas.view().visible();
    CHECK(seen.contains(canvas.picture->layout.boxes[box.index].rect));
    CHECK((seen.contains(canvas.picture->layout.bounds) || canvas.at.zoom < 0.63));
    CHECK(canvas.at.zoom >= 0.62);
  }
}

}  // namespace
}  // namespace recut::gui

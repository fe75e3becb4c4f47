// What lies over something else covers no numbers, no legend, and isn't struck through.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/effort.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

const Item& seen_item(const Window& window, const char* label) {
  CAPTURE(label);
  const Item* item = window.app.items.find(label);
  REQUIRE(item != nullptr);
  REQUIRE(item->visible());
  return *item;
}

NullBackend covered_backend(Extent extent) {
  NullBackend backend = Window::sample_backend();
  backend.resize(extent, 1);
  return backend;
}

const Extent kCoveredSizes[] = {{1680, 1050}, {1280, 800}, {390, 844}};

// Its axes' numbers stand beside the plot and below it.
TEST_CASE("covered: the step's label stays within the plot", "[gui]") {
  for (const Extent extent : kCoveredSizes) {
    CAPTURE(extent.width);
    Window window(bare_options(), covered_backend(extent));
    window.app.open("sample:tiny_conv");
    window.settle();
    REQUIRE(window.app.run("panel.show", "memory").ok());
    const std::size_t steps = window.app.document()->shown->replay().steps.size();
    for (const std::size_t step : {std::size_t{0}, std::size_t{1}, steps / 2, steps - 1}) {
      CAPTURE(step);
      REQUIRE(window.app.run("timeline.go", std::to_string(step)).ok());
      window.settle();
      const Rect& plot = seen_item(window, "memory/steps").rect;
      const Rect& label = seen_item(window, "memory/cursor").rect;
      CHECK(label.left >= plot.left - 0.5f);
      CHECK(label.right <= plot.right + 0.5f);
      CHECK(label.top >= plot.top);
      CHECK(label.bottom <= plot.bottom);
    }
  }
}

TEST_CASE("covered: the budget's line doesn't strike the peak's words through", "[gui]") {
  int lines = 0;
  for (const Extent extent : kCoveredSizes)
    for (const char* sample : {"tiny_conv", "mlp"}) {
      Window window(bare_options(), covered_backend(extent));
      window.app.open(std::string("sample:") + sample);
      window.settle();
      REQUIRE(window.app.run("panel.show", "memory").ok());
      for (const char* budget : {"100%", "97%", "94%", "90%", "83%", "75%"}) {
        CAPTURE(extent.width, sample, budget);
        REQUIRE(window.app.run("budget.set", budget).ok());
        window.settle();
        const Rect& text = seen_item(window, "memory/peak words").rect;
        const Item* line = window.app.items.find("memory/budget line");
        if (line == nullptr || !line->visible()) continue;
        ++lines;
        const float y = line->rect.centre().y;
        const bool struck = y > text.top && y < text.bottom;
        CHECK_FALSE(struck);
      }
    }
  CHECK(lines > 6);
}

// Over the graph alone, however many there are and however long they are.
TEST_CASE("covered: a notice lies over the panel in the middle, and over no legend", "[gui]") {
  for (const Extent extent : kCoveredSizes) {
    CAPTURE(extent.width);
    Window window(bare_options(), covered_backend(extent));
    window.app.open("sample:tiny_conv");
    window.settle();
    const std::string text = "There is much to say of this file, and none of it is short: ";
    window.app.say("one", false);
    window.app.say(text + text, true);
    window.app.say(text + text + text, false);
    window.tick();
    window.tick();
    int notices = 0;
    for (const Item& notice : window.app.items.all()) {
      if (notice.label.rfind("notice ", 0) != 0) continue;
      ++notices;
      CHECK(notice.rect.left >= 0);
      CHECK(notice.rect.right <= static_cast<float>(extent.width));
      for (const Item& item : window.app.items.all()) {
        const bool apart = item.label.find('/') != std::string::npos &&
                           item.label.rfind("graph/", 0) != 0 &&
                           item.label.rfind("splitter/", 0) != 0;
        if (!apart || !item.visible()) continue;
        CAPTURE(notice.label, item.label);
        CHECK_FALSE(notice.rect.meets(item.rect));
      }
    }
    CHECK(notices >= 3);
    if (extent.width > 1000) seen_item(window, "transforms/legend saved");
  }
}

}  // namespace
}  // namespace recut::gui

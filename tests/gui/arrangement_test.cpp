// Where panels stand in windows of several sizes, a phone's among them.
#include "gui/app/arrangement.h"

#include <catch2/catch_test_macros.hpp>
#include <set>

#include "tests/gui/window.h"

namespace recut::gui {
namespace {

// Nothing lies over anything else or outside the window, and everybody has a place or a turn.
void check_places(const Arrangement& found, const std::vector<Panel>& panels, const Rect& window) {
  std::set<std::size_t> reached;
  for (std::size_t i = 0; i < found.placed.size(); ++i) {
    const Rect& area = found.placed[i].area;
    reached.insert(found.placed[i].panel);
    CHECK(area.left >= window.left);
    CHECK(area.right <= window.right);
    CHECK(area.bottom <= window.bottom);
    CHECK_FALSE(area.empty());
    for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(area.meets(found.placed[j].area));
  }
  for (const TabGroup& turn : found.tab_groups)
    reached.insert(turn.panels.begin(), turn.panels.end());
  for (std::size_t i = 0; i < panels.size(); ++i)
    if (panels[i].dock != Dock::overlay && panels[i].dock != Dock::floating &&
        panels[i].window_state == WindowState::open)
      CHECK(reached.count(i) == 1);
}

}  // namespace

TEST_CASE("every panel has a place in every window", "[arrangement]") {
  const std::vector<Panel> panels = registered_panels();
  const Settings settings;
  for (const float scale : {1.0f, 2.0f})
    for (const auto& [wide, high] :
         {std::pair(1680, 1050), std::pair(1280, 800), std::pair(1000, 700), std::pair(960, 700),
          std::pair(390, 844), std::pair(844, 390)}) {
      CAPTURE(wide, high, scale);
      const Rect window{0, 0, static_cast<float>(wide) * scale, static_cast<float>(high) * scale};
      const Arrangement found = arrange(panels, settings, window, scale, WindowState::open);
      check_places(found, panels, window);
      CHECK(found.compact == (wide < 1000 || high < 480));
    }
}

TEST_CASE("in a small window a panel that is asked for comes to the front", "[arrangement]") {
  AppOptions options = bare_options();
  Window window(options, Window::sample_backend());
  window.backend.resize({390, 844}, 1);
  window.app.open("sample:tiny_conv");
  window.settle();
  const auto& items = window.app.items;
  REQUIRE(items.find("graph/canvas") != nullptr);
  REQUIRE(items.find("trade-off/budget") != nullptr);
  CHECK(items.find("values/filter") == nullptr);
  for (const char* panel :
       {"values", "details", "memory", "transforms", "text", "compare", "check"}) {
    REQUIRE(window.app.run("panel.show", panel).ok());
    window.settle();
    const Item* tab = items.find("turn " + std::string(panel));
    REQUIRE(tab != nullptr);
    CHECK(tab->value == "chosen");
    CHECK(tab->rect.width() > 20);
  }
  CHECK(window.play("click \"turn values\"\nexpect item values/filter\nclick \"turn graph\"\n"
                    "expect item graph/canvas\n") == "");
}

}  // namespace recut::gui

// What a screen reader says of the items on the screen: words, wherever one is.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cctype>
#include <string>

#include "tests/gui/window.h"

namespace recut::gui {
namespace {

const Item& item_of(const Window& window, std::string_view label) {
  const Item* item = window.app.items.find(label);
  REQUIRE(item != nullptr);
  return *item;
}

std::size_t item_index(const Window& window, std::string_view label) {
  const auto& all = window.app.items.all();
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const Item& item) { return item.label == label; });
  return static_cast<std::size_t>(at - all.begin());
}

TEST_CASE("spoken: buttons with signs have words", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  CHECK(spoken_name(item_of(window, "bar/help")) == "Help");
  CHECK(spoken_name(item_of(window, "bar/theme")) == "Light or dark");
  CHECK(spoken_name(item_of(window, "bar/palette")) == "Find a command");
  CHECK(spoken_name(item_of(window, "bar/close tiny_conv")) == "Close tiny_conv");
  for (const Item& item : window.app.items.all()) {
    if (!item.visible() || item.kind != ItemKind::button) continue;
    CAPTURE(item.label);
    const std::string name = spoken_name(item);
    CHECK(std::count_if(name.begin(), name.end(),
                        [](unsigned char c) { return std::isalpha(c); }) >= 2);
  }
}

TEST_CASE("spoken: the bar is read from the left to the right", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  CHECK(item_index(window, "bar/menu") < item_index(window, "bar/tab tiny_conv"));
  CHECK(item_index(window, "bar/tab tiny_conv") < item_index(window, "bar/search"));
  CHECK(item_index(window, "bar/search") < item_index(window, "bar/palette"));
  CHECK(item_index(window, "bar/palette") < item_index(window, "bar/theme"));
  CHECK(item_index(window, "bar/theme") < item_index(window, "bar/help"));
}

TEST_CASE("spoken: the timeline says where it is, a dead button why", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const Item& steps = item_of(window, "memory/steps");
  REQUIRE(steps.span.has_value());
  CHECK(steps.span->text.find("the peak is at") != std::string::npos);
  const Item& budget = item_of(window, "memory/budget");
  CHECK(budget.kind == ItemKind::slider);
  REQUIRE(budget.span.has_value());
  CHECK(budget.span->least < budget.span->most);
  CHECK(budget.span->text == item_of(window, "trade-off/curve").span->text);
  CHECK(budget.hint.find("arrow keys") != std::string::npos);
  REQUIRE(window.app.run("panel.show", "train").ok());
  window.settle();
  const Item& begin = item_of(window, "train/begin");
  CHECK_FALSE(begin.enabled);
  CHECK(begin.hint.find("can't run steps") != std::string::npos);
}

}  // namespace
}  // namespace recut::gui

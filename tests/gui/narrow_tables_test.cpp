// The tables of Compare, Check and Run keep their names in narrow panels, at every scale.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "gui/app/arrangement.h"
#include "gui/app/check_view.h"
#include "tests/gui/letters.h"
#include "tests/gui/stub_executor.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

constexpr float kLeastPanel = 300;  // units, in which names can be read

// Of a panel, in units; 0 where it isn't in sight.
float panel_width(const Window& window, std::string_view id) {
  const Extent extent = window.backend.extent();
  const Rect whole{0, 0, static_cast<float>(extent.width), static_cast<float>(extent.height)};
  const App& app = window.app;
  const Arrangement found =
      arrange(app.panels, app.settings, whole, app.scale(), WindowState::open, false);
  for (const PlacedPanel& placed : found.placed)
    if (app.panels[placed.panel].id == id) return placed.area.width() / app.scale();
  return 0;
}

// What the rows of a panel that are in sight are about.
std::vector<std::string> names_of_rows(Window& window, const std::string& panel) {
  std::vector<std::string> names;
  for (const Item& item : window.app.items.all()) {
    if (item.kind != ItemKind::row || !item.visible()) continue;
    if (item.label.rfind(panel + "/", 0) == 0) names.push_back(item.value);
  }
  if (panel != "check") return names;
  const auto& outputs = check_view(*window.app.document()).report->outputs;
  REQUIRE(outputs.size() >= names.size());
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = outputs[i].name;
  return names;
}

// Returns how many rows stand there.
std::size_t check_names(Window& window, const std::string& panel) {
  if (panel_width(window, panel) < kLeastPanel) return 0;
  for (const std::string& shown : window.app.items.remains_of_cut_texts(panel)) {
    CAPTURE(shown);
    CHECK(count_letters(shown) >= kLeastLetters);
  }
  const std::vector<std::string> names = names_of_rows(window, panel);
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(window.app.items.find_text(name, panel) != nullptr);
  }
  return names.size();
}

struct TableView {
  const char *panel, *compared_with;
  bool has_rows;
};
constexpr TableView kTableViews[] = {{"compare", "unplanned", true},
                                     {"compare", "before", true},
                                     {"compare", "pass 0", false},
                                     {"check", "", true},
                                     {"run", "", true}};

// `tall`: all of a panel is in sight.
void check_tables(Window& window, bool tall) {
  for (const TableView& view : kTableViews) {
    CAPTURE(view.panel, view.compared_with);
    if (*view.compared_with != 0) REQUIRE(window.app.run("compare.with", view.compared_with).ok());
    REQUIRE(window.app.run("panel.show", view.panel).ok());
    window.settle();
    const std::size_t rows = check_names(window, view.panel);
    if (tall && view.has_rows) CHECK(rows > 0);
  }
}

TEST_CASE("scale: narrow tables keep their names", "[scale]") {
  StubExecutor executor;
  executor.profile = "cpu8";  // so that planned times stand beside measured ones
  Window window(bare_options(), with_executor(executor));
  window.app.items.keep_texts = true;
  window.app.open("sample:tiny_conv");
  window.settle();
  for (const auto& [command, argument] :
       {std::pair("budget.set", "60%"), std::pair("check.run", "seed 1"),
        std::pair("run.step", "")}) {
    CAPTURE(command);
    REQUIRE(window.app.run(command, argument).ok());
    window.settle();
  }
  for (const float scale : {1.0f, 1.5f, 2.0f}) {
    for (const int wide : {300, 360, 480}) {
      CAPTURE(scale, wide);
      window.backend.resize(
          {static_cast<int>(static_cast<float>(wide) * scale), static_cast<int>(1500 * scale)},
          scale);
      check_tables(window, true);
    }
    for (const Extent extent : {Extent{1280, 800}, Extent{1680, 1050}}) {
      CAPTURE(scale, extent.width);
      window.backend.resize(extent, scale);
      check_tables(window, false);
    }
  }
}

// In a panel that is too low for all of it, the rows can be scrolled to.
TEST_CASE("scale: a low comparison scrolls to its rows", "[scale]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  REQUIRE(window.app.run("budget.set", "60%").ok());
  REQUIRE(window.app.run("compare.with", "unplanned").ok());
  window.backend.resize({390, 700}, 1);
  REQUIRE(window.app.run("panel.show", "compare").ok());
  window.settle();
  const auto sees_row = [&] {
    const Item* row = window.app.items.find("compare/value 0");
    return row != nullptr && row->visible();
  };
  CHECK_FALSE(sees_row());
  const Item* choice = window.app.items.find("compare/with unplanned");
  REQUIRE(choice != nullptr);
  REQUIRE(choice->visible());
  const ImVec2 at = choice->rect.centre();
  window.backend.give(PointerMoved{at.x, at.y});
  for (int i = 0; i < 60 && !sees_row(); ++i) {
    window.backend.give(WheelTurned{0, -1});
    window.tick();
  }
  window.settle();
  CHECK(sees_row());
}

}  // namespace
}  // namespace recut::gui

// The menus against the table of commands, and the keys of an open menu.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "gui/app/menu.h"
#include "tests/gui/window.h"
#include "tests/paths.h"

namespace recut::gui {
namespace {

std::string subject_of(std::string_view id) { return std::string(id.substr(0, id.find('.'))); }

TEST_CASE("menu: every entry is a row of the table, and no subject is left out", "[gui]") {
  Window window(bare_options());
  std::set<std::string> subjects{"menu", "panel"};  // the menu itself; the list of panels
  for (const Menu& menu : menus()) {
    for (const MenuEntry& entry : menu.entries) {
      if (entry.fill != MenuFill::command) continue;
      CAPTURE(menu.id, entry.command);
      REQUIRE(find_command(entry.command) != nullptr);
      CHECK_FALSE(find_command(entry.command)->title.empty());
    }
    for (const MenuRow& row : rows_of(window.app, menu)) subjects.insert(subject_of(row.label));
  }
  for (const Command* command : all_commands()) {
    CAPTURE(command->id);
    if (!command->title.empty()) CHECK(subjects.count(subject_of(command->id)) == 1);
  }
}

TEST_CASE("menu: each row says what the table says", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  std::set<std::string> labels;
  for (const Menu& menu : menus()) {
    const std::vector<MenuRow> rows = rows_of(window.app, menu);
    REQUIRE_FALSE(rows.empty());
    CHECK_FALSE(rows.front().is_line());
    CHECK_FALSE(rows.back().is_line());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i > 0) CHECK_FALSE((rows[i].is_line() && rows[i - 1].is_line()));
      if (rows[i].is_line()) continue;
      CHECK_FALSE(rows[i].title.empty());
      CHECK(labels.insert(std::string(menu.id) + rows[i].label).second);
    }
  }
}

const MenuRow* row_called(const std::vector<MenuRow>& rows, std::string_view label) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const MenuRow& row) { return row.label == label; });
  return found == rows.end() ? nullptr : &*found;
}

TEST_CASE("menu: what is on has its mark, what isn't possible is not enabled", "[gui]") {
  Window window(bare_options());
  const auto before = rows_of(window.app, *find_menu("plan"));
  REQUIRE(row_called(before, "budget.set") != nullptr);
  CHECK_FALSE(row_called(before, "budget.set")->enabled);
  window.app.open("sample:tiny_conv");
  window.settle();
  REQUIRE(window.app.run("device.set", "h100").ok());
  const auto devices = rows_of(window.app, *find_menu("device"));
  CHECK(row_called(devices, "device.set h100")->on);
  CHECK_FALSE(row_called(devices, "device.set a100")->on);
  const auto plan = rows_of(window.app, *find_menu("plan"));
  CHECK(row_called(plan, "budget.set")->enabled);
  CHECK(row_called(plan, "budget.set")->intent.command == "palette.open");  // for its argument
  window.settle();
}

TEST_CASE("menu: a machine that was calibrated is among the devices", "[gui]") {
  NullBackend backend = Window::sample_backend();
  backend.calibrated = RECUT_SOURCE_DIR "/samples/devices/cpu8.json";
  Window window(bare_options(), backend), plain(bare_options());
  for (Window* one : {&window, &plain}) {
    one->app.open("sample:tiny_conv");
    one->settle();
  }
  const std::string label = "device.set " + backend.calibrated;
  const auto devices = [](Window& one) { return rows_of(one.app, *find_menu("device")); };
  CHECK(row_called(devices(plain), label) == nullptr);
  REQUIRE(row_called(devices(window), label) != nullptr);
  CHECK(row_called(devices(window), label)->title.find("Measured here: ") == 0);
  REQUIRE(window.app.run("device.set", backend.calibrated).ok());
  window.settle();
  CHECK(row_called(devices(window), label)->on);
  CHECK(window.app.document()->shown->report().device == "cpu8");
  REQUIRE(window.app.run("device.next").ok());
  CHECK(window.state("device") != backend.calibrated);
}

TEST_CASE("menu: while it is open the keys are its own", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  key(window, ImGuiKey_F10);
  REQUIRE(window.state("menu") == "file");
  for (const ImGuiKey each : {ImGuiKey_DownArrow, ImGuiKey_UpArrow, ImGuiKey_End, ImGuiKey_Home})
    key(window, each);
  window.backend.give(TextTyped{"n"});  // the next pass, were it not for the menu
  window.settle();
  CHECK(window.state("menu") == "file");
  CHECK(window.state("selection").empty());
  CHECK(window.app.menu.row != OpenMenu::kNone);
  key(window, ImGuiKey_Escape);
  CHECK(window.state("menu").empty());
  key(window, ImGuiKey_DownArrow);
  window.settle();
  CHECK_FALSE(window.state("selection").empty());
}

TEST_CASE("menu: Alt opens it only where nothing happened meanwhile", "[gui]") {
  Window window(bare_options());
  window.settle();
  const auto alt = [&](bool down) { window.backend.give(KeyChanged{ImGuiMod_Alt, down}); };
  alt(true);
  window.backend.give(FocusChanged{false});  // Alt+Tab
  alt(false);
  window.tick();
  CHECK(window.state("menu").empty());
  alt(true);
  window.backend.give(KeyChanged{ImGuiKey_X, true});
  window.backend.give(KeyChanged{ImGuiKey_X, false});
  alt(false);
  window.tick();
  CHECK(window.state("menu").empty());
  alt(true);
  alt(false);
  window.tick();
  CHECK(window.state("menu") == "file");
}

}  // namespace
}  // namespace recut::gui

// What the palette and the help list, and how they write keys.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

#include "gui/app/command_subject.h"
#include "gui/app/hotkey.h"
#include "gui/app/palette_rows.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

TEST_CASE("palette: every command stands once, under a heading", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const std::vector<PaletteRow> rows = palette_rows(window.app, "");
  REQUIRE_FALSE(rows.empty());
  CHECK_FALSE(rows.front().heading.empty());
  std::set<std::string_view> ids;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].command == nullptr) {
      CHECK((i + 1 < rows.size() && rows[i + 1].command != nullptr));
      continue;
    }
    CAPTURE(rows[i].command->id);
    CHECK(ids.insert(rows[i].command->id).second);
  }
  CHECK(ids.size() == matching_commands(window.app, "").size());
}

TEST_CASE("palette: what was used last comes first, and no more of it than can be kept", "[gui]") {
  Window window(bare_options());
  for (const char* id : {"theme.toggle", "help.open", "theme.toggle"})
    remember_used(window.app, id);
  std::vector<PaletteRow> rows = palette_rows(window.app, "");
  REQUIRE(rows.size() > 3);
  CHECK(rows[0].heading == "Used last");
  CHECK(rows[1].command->id == "theme.toggle");
  CHECK(rows[2].command->id == "help.open");
  CHECK(rows[3].command == nullptr);
  CHECK(palette_rows(window.app, "light")[0].command != nullptr);
  for (int i = 0; i < 20; ++i) remember_used(window.app, "nonsense" + std::to_string(i));
  CHECK(palette_rows(window.app, "")[0].heading != "Used last");
}

TEST_CASE("palette: every subject of the table has a heading of its own words", "[gui]") {
  std::vector<const Command*> titled;
  for (const Command* command : all_commands())
    if (!command->title.empty()) titled.push_back(command);
  for (const CommandGroup& group : by_subject(titled)) {
    CAPTURE(group.title);
    CHECK((group.title.front() >= 'A' && group.title.front() <= 'Z'));
  }
}

TEST_CASE("palette: keys are written as they are called", "[gui]") {
  CHECK(readable_hotkey("Ctrl+DownArrow") == "Ctrl Down");
  CHECK(readable_hotkey("Shift+LeftArrow PageUp") == "Shift Left");
  CHECK(readable_hotkey("Ctrl+=") == "Ctrl =");
  CHECK(readable_hotkey("+ =") == "+");
  CHECK(readable_hotkey("Ctrl+-") == "Ctrl -");
  CHECK(readable_hotkey("Ctrl+Period") == "Ctrl .");
  CHECK(readable_hotkey("") == "");
  for (const Command* command : all_commands())
    CHECK(readable_hotkey(command->hotkey).find("Arrow") == std::string::npos);
}

TEST_CASE("palette: keys that everybody knows are one command's", "[gui]") {
  for (const char* key : {"s", "r", "Ctrl+S", "Ctrl+R"}) {
    CAPTURE(key);
    const auto commands = all_commands();
    CHECK(std::count_if(commands.begin(), commands.end(), [&](const Command* command) {
            return has_hotkey(command->hotkey, key);
          }) == 1);
  }
}

}  // namespace
}  // namespace recut::gui

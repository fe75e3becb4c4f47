// The menus: lists of rows of the table of commands. The table gives a row's title, its key, and
// whether it is enabled and on; files opened before, panels and devices are rows of their own.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gui/app/command.h"

namespace recut::gui {

// The kinds of menu entries: a command, a line between groups, or a row for each current item:
// executors, targets of code, all commands of a subject ("compare" in place of an id), commands of
// subjects that stand in no menu.
enum class MenuFill : unsigned char {
  command,
  line,
  recent,
  panels,
  devices,
  executors,
  targets,
  subject,
  others
};

struct MenuEntry {
  std::string_view command = {};
  std::string_view title = {};     // in place of the command's, where the argument says more
  std::string_view argument = {};  // that the row gives
  MenuFill fill = MenuFill::command;
};

struct Menu {
  std::string_view id;     // "file"
  std::string_view title;  // "File"
  std::span<const MenuEntry> entries;
};

struct MenuRow {
  std::string title;
  Intent intent;       // no command: a line
  std::string label;   // the command's id, and the argument that it is given
  std::string hotkey;  // the first, as users read it; "" for none
  bool enabled = true;
  bool on = false;
  bool is_line() const { return intent.command.empty(); }
};

std::span<const Menu> menus();
const Menu* find_menu(std::string_view id);  // null where there is none
std::vector<MenuRow> rows_of(const App& app, const Menu& menu);

}  // namespace recut::gui

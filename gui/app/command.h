// The table of everything that the window can do. Menus, palette, keys, help and scripts are views
// of it. Panels request commands as an Intent, which is a row and its argument.
//
// A new command is one row in the file of its subject, gui/commands/SUBJECT.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace recut::gui {

class App;

struct Command {
  std::string_view id;        // "budget.set"
  std::string_view title;     // "Set the budget": an imperative, for users
  std::string_view hotkey;    // "Ctrl+B", "n", "Ctrl+Shift+P F1"; "" for none
  std::string_view argument;  // prompt for its argument: "bytes, or % of the peak"; "" for none
  bool (*enabled)(const App& app);  // null: always
  // Fails with a message for the user. `argument` is "" without one.
  Result<Done> (*run)(App& app, std::string_view argument);
  // The owner of the key: a panel's id ("menu" for the open menu); "" for everybody. See
  // App::press.
  std::string_view panel = "";
  // True if the setting that it switches, or the choice of its argument, is on; null if it switches
  // nothing.
  bool (*checked)(const App& app, std::string_view argument) = nullptr;
};

struct Intent {
  std::string command;
  std::string argument;
};
using Intents = std::vector<Intent>;

// The commands of all subjects, each in its own order; written by the build.
std::vector<std::span<const Command>> registered_commands();

const Command* find_command(std::string_view id);  // null where there is none
std::vector<const Command*> all_commands();

// Scores how well `text` fits the typed letters: in order, better at the start of words and next to
// each other. Below 0: not at all.
int fuzzy_score(std::string_view typed, std::string_view text);

// The commands that fit, best first; all enabled ones if the text is empty.
std::vector<const Command*> matching_commands(const App& app, std::string_view typed);

}  // namespace recut::gui

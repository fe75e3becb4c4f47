// The palette's list: where nothing is typed the commands that were used last, then all others by
// subject; else the fitting ones, best first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/app/command.h"

namespace recut::gui {

struct PaletteRow {
  std::string heading;               // of the rows below it; or
  const Command* command = nullptr;  // a row
};

std::vector<PaletteRow> palette_rows(const App& app, std::string_view typed);

// Puts the command first among the ones that were used last.
void remember_used(App& app, std::string_view command);

}  // namespace recut::gui

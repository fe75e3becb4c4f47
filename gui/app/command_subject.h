// The subjects of commands, in words and in an order to be read in: help and palette are grouped by
// them.
#pragma once

#include <string>
#include <vector>

#include "gui/app/command.h"

namespace recut::gui {

struct CommandGroup {
  std::string title;
  std::vector<const Command*> commands;  // as they were given
};

// Groups `commands` by subject; a subject that the table here doesn't know comes last, by its own
// name.
std::vector<CommandGroup> by_subject(const std::vector<const Command*>& commands);

}  // namespace recut::gui

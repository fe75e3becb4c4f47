// The subjects of commands with their titles, in the order of help and palette, which are grouped
// by them.
#pragma once

#include <string>
#include <vector>

#include "gui/app/command.h"

namespace recut::gui {

struct CommandGroup {
  std::string title;
  std::vector<const Command*> commands;  // as they were given
};

// Groups `commands` by subject. A subject without a title comes last, by its id.
std::vector<CommandGroup> by_subject(const std::vector<const Command*>& commands);

}  // namespace recut::gui

// Commands of the first screen.
#include "gui/app/app.h"

namespace recut::gui {
namespace {

bool is_first(const App& app) { return app.window_state() == WindowState::first; }

Result<Done> leave_first(App& app, std::string_view) {
  app.first_screen = false;
  return Done{};
}

Result<Done> copy_call(App& app, std::string_view argument) {
  app.backend.set_clipboard(std::string(argument));
  app.say("Copied");
  return Done{};
}

constexpr Command kFirstRows[] = {
    {"first.leave", "Open the workbench", "Enter KeypadEnter", "", is_first, leave_first},
    {"first.copy", "", "", "words", is_first, copy_call},
};

}  // namespace

std::span<const Command> first_commands() { return kFirstRows; }

}  // namespace recut::gui

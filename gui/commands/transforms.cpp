// The list of passes.
#include "gui/app/app.h"

namespace recut::gui {
namespace {

Result<Done> toggle_idle(App& app, std::string_view) {
  app.settings.set_flag("passes.idle", !app.settings.flag("passes.idle", false));
  return Done{};
}

constexpr Command kRows[] = {
    {"pass.idle", "Show or hide passes that changed nothing", "", "", nullptr, toggle_idle},
};

}  // namespace

std::span<const Command> transforms_commands() { return kRows; }

}  // namespace recut::gui

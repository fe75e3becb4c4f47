// Commands of the transforms panel.
#include "gui/app/app.h"

namespace recut::gui {
namespace {

Result<Done> toggle_idle(App& app, std::string_view) {
  app.settings.set_flag("passes.idle", !app.settings.flag("passes.idle", false));
  return Done{};
}

bool shows_idle(const App& app, std::string_view) {
  return app.settings.flag("passes.idle", false);
}

constexpr Command kTransformsRows[] = {
    {"pass.idle", "Show or hide passes that changed nothing", "", "", nullptr, toggle_idle, "",
     shows_idle},
};

}  // namespace

std::span<const Command> transforms_commands() { return kTransformsRows; }

}  // namespace recut::gui

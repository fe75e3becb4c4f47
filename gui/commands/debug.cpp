// Commands that save a debug bundle of the run or the check, as `recut debug` does.
#include "gui/app/app.h"
#include "gui/app/conditions.h"
#include "gui/app/debug_view.h"
#include "gui/backend/paths.h"

namespace recut::gui {
namespace {

bool has_shown_check(const App& app) {
  return has_plan(app) && shown_check(*app.document()) != nullptr;
}

std::string bundle_path(const App& app, std::string_view path) {
  return path.empty() ? plain_name(app.document()->title) + "-debug" : std::string(path);
}

Result<Done> save_run_as_bundle(App& app, std::string_view path) {
  return save_run_bundle(app, *app.document(), bundle_path(app, path));
}

Result<Done> save_check_as_bundle(App& app, std::string_view path) {
  return save_check_bundle(app, *app.document(), bundle_path(app, path));
}

Result<Done> toggle_bundle_data(App& app, std::string_view) {
  app.settings.set_flag(kDebugData, !app.settings.flag(kDebugData, false));
  return Done{};
}
bool bundles_have_data(const App& app, std::string_view) {
  return app.settings.flag(kDebugData, false);
}

constexpr Command kDebugRows[] = {
    {"debug.save", "Save a debug bundle of the run", "", "where to: a folder's name", has_plan,
     save_run_as_bundle},
    {"debug.check", "Save a debug bundle of the check", "", "where to: a folder's name",
     has_shown_check, save_check_as_bundle},
    {"debug.data", "Put the inputs' values into debug bundles", "", "", nullptr, toggle_bundle_data,
     "", bundles_have_data},
};

}  // namespace

std::span<const Command> debug_commands() { return kDebugRows; }

}  // namespace recut::gui

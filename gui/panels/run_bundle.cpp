#include "gui/panels/run_bundle.h"

#include "gui/app/app.h"
#include "gui/app/debug_view.h"

namespace recut::gui {
namespace {

constexpr float kBundleButton = 144, kBundleToggle = 110;

}  // namespace

void draw_bundle_offer(Ui& ui, const PanelInput& input, Rect& area, std::string_view command,
                       Intents& intents) {
  const App& app = input.app;
  const auto* view = find_memory<DebugView>(app.document()->memories, kDebugMemory);
  const bool saving = view != nullptr && app.jobs.is_alive(view->job);
  Rect row = area.cut_top(ui.target(kRow));
  const Rect press = row.cut_left(ui.px(kBundleButton)).inset(0, ui.px(1));
  if (button(ui, "bundle", press, saving ? "Saving …" : "Save debug bundle", ButtonLook::plain,
             !saving))
    intents.push_back({std::string(command), ""});
  hint(ui, "Graphs, plan, code and scripts that run it again elsewhere");
  row.cut_left(ui.px(10));
  const bool data = app.settings.flag(kDebugData, false);
  if (toggle(ui, "bundle data", row.cut_left(ui.px(kBundleToggle)), "with values", data))
    intents.push_back({"debug.data", ""});
  hint(ui,
       "Puts the inputs' values into the bundle. Without them, all programs draw the same ones");
}

}  // namespace recut::gui

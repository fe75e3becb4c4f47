// Commands that open, compare and close a memory snapshot over the plan.
#include "gui/app/measured_view.h"

#include "gui/app/app.h"
#include "gui/app/conditions.h"

namespace recut::gui {
namespace {

bool has_snapshot(const App& app) {
  if (!has_plan(app)) return false;
  const auto* view = find_memory<MeasuredView>(app.document()->memories, kMeasuredView);
  return view != nullptr && !view->path.empty();
}

Result<Done> open_measured(App& app, std::string_view path) {
  if (path.empty()) {
    if (!app.backend.ask_for_file()) app.overlay = "open";
    return Done{};
  }
  open_snapshot(app, *app.document(), std::string(path), nullptr);
  return app.run("panel.show", "memory");
}

Result<Done> compare_measured(App& app, std::string_view) {
  if (wants_memory_comparison(app, *app.document())) start_memory_comparison(app, *app.document());
  return Done{};
}

Result<Done> close_measured(App& app, std::string_view) {
  close_snapshot(app, *app.document());
  return Done{};
}

constexpr Command kMeasuredRows[] = {
    {"measured.open", "Compare the memory with a snapshot of PyTorch", "", "a snapshot's file",
     has_plan, open_measured},
    {"measured.compare", "", "", "", has_snapshot, compare_measured},
    {"measured.close", "Close the memory snapshot", "", "", has_snapshot, close_measured},
};

}  // namespace

std::span<const Command> measured_commands() { return kMeasuredRows; }

}  // namespace recut::gui

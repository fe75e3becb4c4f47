// Commands of the memory timeline: its bands, its range of steps, copies.
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>

#include "gui/app/app.h"
#include "gui/app/conditions.h"
#include "gui/app/memory_view.h"
#include "gui/model/memory_stack.h"
#include "gui/model/schedule_view.h"
#include "gui/model/value_table.h"

namespace recut::gui {
namespace {

Result<Done> stack(App& app, std::string_view by) {
  const std::string now = app.settings.text("memory.by", "module");
  const std::string requested =
      by.empty() ? (now == "module" ? "kind" : "module") : std::string(by);
  if (requested != "module" && requested != "kind")
    return error("memory is shown by module or by kind");
  app.settings.set("memory.by", requested);
  return Done{};
}

bool is_stacked(const App& app, std::string_view by) {
  return !by.empty() && app.settings.text("memory.by", "module") == by;
}
bool is_listed(const App& app, std::string_view) { return app.settings.flag("memory.list", false); }

// Shows live bytes, or addresses.
Result<Done> set_view(App& app, std::string_view requested) {
  const bool arena = requested.empty() ? !shows_arena(app) : requested == "arena";
  if (!requested.empty() && requested != "arena" && requested != "curve")
    return error("memory is shown as curve or arena");
  app.settings.set("memory.view", arena ? "arena" : "");
  return Done{};
}
bool is_view(const App& app, std::string_view view) {
  return !view.empty() && shows_arena(app) == (view == "arena");
}

Result<Done> prepare_memory(App& app, std::string_view) {
  app.planner.schedule(*app.document());
  return Done{};
}

Result<Done> toggle_list(App& app, std::string_view) {
  app.settings.set_flag("memory.list", !app.settings.flag("memory.list", false));
  return Done{};
}

Result<Done> zoom_memory(App& app, std::string_view steps) {
  DocumentView& document = *app.document();
  const auto count = document.shown->replay().steps.size();
  MemoryView& view = memory_view(document);
  if (steps.empty()) {
    view.show(0, 1, count);
    view.show_bytes(0, 1);
    return Done{};
  }
  const std::string text(steps);
  char* end = nullptr;
  const double from = std::strtod(text.c_str(), &end);
  const double to = std::strtod(end, nullptr);
  if (!(from >= 0 && to > from) || !std::isfinite(to))
    return error("expected two steps such as '100 250'");
  const auto all = static_cast<double>(std::max<std::size_t>(1, count));
  view.show(from / all, to / all, count);
  return Done{};
}

Result<Done> copy_csv_memory(App& app, std::string_view) {
  app.backend.set_clipboard(timeline_csv(*app.document()->shown));
  app.say("Copied the timeline, a line a step");
  return Done{};
}

Result<Done> copy_peak(App& app, std::string_view) {
  app.backend.set_clipboard(peak_text(*app.document()->shown));
  app.say("Copied what is alive at the peak");
  return Done{};
}

constexpr Command kMemoryRows[] = {
    {"memory.by", "Memory by module or by kind", "m", "module or kind", has_plan, stack, "",
     is_stacked},
    {"memory.view", "Memory as the bytes alive, or as addresses in the arena", "a",
     "curve or arena", has_plan, set_view, "", is_view},
    {"memory.prepare", "", "", "", has_plan, prepare_memory},
    {"memory.list", "List what is alive at the peak", "", "", has_plan, toggle_list, "", is_listed},
    {"memory.zoom", "Zoom the timeline", "", "two steps such as 100 250; nothing for all", has_plan,
     zoom_memory},
    {"memory.copy_csv", "Copy the timeline as CSV", "", "", has_plan, copy_csv_memory},
    {"memory.copy_peak", "Copy what is alive at the peak", "", "", has_plan, copy_peak},
};

}  // namespace

std::span<const Command> memory_commands() { return kMemoryRows; }

}  // namespace recut::gui

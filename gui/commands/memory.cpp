// The timeline: its bands, the steps that it shows, a second plan over it, copies.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/memory_stack.h"
#include "gui/app/memory_view.h"
#include "gui/app/value_table.h"

namespace recut::gui {
namespace {

bool is_ready(const App& app) { return app.has_ready() && app.document()->shown != nullptr; }
bool has_baseline(const App& app) {
  return is_ready(app) && memory_view(*app.documents.front()).baseline != nullptr;
}

Result<Done> stack(App& app, std::string_view by) {
  const std::string now = app.settings.text("memory.by", "module");
  const std::string wanted = by.empty() ? (now == "module" ? "kind" : "module") : std::string(by);
  if (wanted != "module" && wanted != "kind") return error("memory is shown by module or by kind");
  app.settings.set("memory.by", wanted);
  return Done{};
}

bool is_stacked(const App& app, std::string_view by) {
  return !by.empty() && app.settings.text("memory.by", "module") == by;
}
bool is_listed(const App& app, std::string_view) { return app.settings.flag("memory.list", false); }

Result<Done> toggle_list(App& app, std::string_view) {
  app.settings.set_flag("memory.list", !app.settings.flag("memory.list", false));
  return Done{};
}

Result<Done> zoom(App& app, std::string_view steps) {
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

void show_baseline(MemoryView& view, SharedPlanView plan, std::string title) {
  view.baseline = std::move(plan);
  view.baseline_title = std::move(title);
  view.asked_for.clear();
}

// PyTorch's partition at a fraction of the saved bytes: planned by a job.
Result<Done> compare_with_torch(App& app, const std::string& fraction) {
  DocumentView& document = *app.document();
  MemoryView& view = memory_view(document);
  app.jobs.cancel(view.making);
  const std::string title = "PyTorch at " + fraction;
  view.asked_for = title;
  PlanningRequest request;
  request.strategy = "torch";
  request.budget = fraction;
  request.device = document.wishes.device;
  Job job{"Planning as PyTorch does", document.serial, true, false, {}};
  job.part = [&app, serial = document.serial, basis = document.basis, request,
              title](JobControl& control) {
    const auto plan = make_plan_view(*basis, request);
    control.post([&app, serial, plan, title] {
      DocumentView* document = app.documents.find(serial);
      if (document == nullptr) return;
      MemoryView& view = memory_view(*document);
      view.asked_for.clear();
      if (!plan) return app.say(format(plan.diagnostics().front()), true);
      show_baseline(view, *plan, title);
    });
    return false;
  };
  view.making = app.jobs.start(std::move(job));
  return Done{};
}

// "none", "start", "shown", "torch 0.5", or bytes: the known plan that peaks no higher.
Result<Done> compare(App& app, std::string_view with) {
  DocumentView& document = *app.document();
  MemoryView& view = memory_view(document);
  const std::string wanted(with);
  if (wanted.empty() || wanted == "none") {
    show_baseline(view, nullptr, "");
  } else if (wanted == "start") {
    show_baseline(view, document.start, "nothing recomputed");
  } else if (wanted == "shown") {
    show_baseline(view, document.shown, "before");
  } else if (wanted.rfind("torch", 0) == 0) {
    const std::size_t blank = wanted.find(' ');
    return compare_with_torch(app, blank == std::string::npos ? "0.5" : wanted.substr(blank + 1));
  } else {
    const auto bytes = read_budget(wanted, document);
    if (!bytes) return bytes.diagnostics();
    const SharedPlanView plan = document.known.best_within(*bytes);
    if (!plan) return error(fmt::format("no plan is known that peaks within {}", wanted));
    show_baseline(view, plan, "plan of " + format_bytes(plan->peak()));
  }
  return Done{};
}

Result<Done> drop_baseline(App& app, std::string_view) { return compare(app, "none"); }

Result<Done> copy_csv(App& app, std::string_view) {
  app.backend.set_clipboard(timeline_csv(*app.document()->shown));
  app.say("Copied the timeline, a line a step");
  return Done{};
}

Result<Done> copy_peak(App& app, std::string_view) {
  app.backend.set_clipboard(peak_text(*app.document()->shown));
  app.say("Copied what is alive at the peak");
  return Done{};
}

constexpr Command kRows[] = {
    {"memory.by", "Memory by module or by kind", "m", "module or kind", is_ready, stack, "",
     is_stacked},
    {"memory.list", "List what is alive at the peak", "", "", is_ready, toggle_list, "", is_listed},
    {"memory.zoom", "Zoom the timeline", "", "two steps such as 100 250; nothing for all", is_ready,
     zoom},
    {"memory.compare", "Compare the memory with another plan", "",
     "start, shown, torch 0.5, bytes, none", is_ready, compare},
    {"memory.alone", "Compare the memory with nothing", "", "", has_baseline, drop_baseline},
    {"memory.copy_csv", "Copy the timeline as CSV", "", "", is_ready, copy_csv},
    {"memory.copy_peak", "Copy what is alive at the peak", "", "", is_ready, copy_peak},
};

}  // namespace

std::span<const Command> memory_commands() { return kRows; }

}  // namespace recut::gui

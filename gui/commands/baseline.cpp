// Commands of the pinned baseline: a plan that the next ones are compared with in every panel.
#include <fmt/core.h>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/compare_view.h"
#include "gui/app/conditions.h"
#include "gui/app/torch_plans.h"

namespace recut::gui {
namespace {

bool has_baseline(const App& app) { return has_plan(app) && app.document()->baseline.plan; }

void pin(DocumentView& document, SharedPlanView plan, std::string title) {
  document.baseline.plan = std::move(plan);
  document.baseline.title = std::move(title);
  document.baseline.pending_title.clear();
  // The pinned plan is the baseline of all comparisons from now on.
  CompareView& view = compare_view(document);
  if (!compared_other(document, view)) view.with.clear();
}

// PyTorch's partition at a fraction of the saved bytes: planned by a job.
Result<Done> pin_torch(App& app, const std::string& text) {
  DocumentView& document = *app.document();
  const auto fraction = torch_fraction(text);
  if (!fraction) return fraction.diagnostics();
  const std::string title = "PyTorch at " + *fraction;
  document.baseline.pending_title = title;
  prepare_torch_plan(app, document, *fraction,
                     [title](DocumentView& later, const SharedPlanView& plan) {
                       if (later.baseline.pending_title == title) pin(later, plan, title);
                     });
  return Done{};
}

Result<Done> drop(App& app, std::string_view) {
  DocumentView& document = *app.document();
  document.baseline = {};
  CompareView& view = compare_view(document);
  if (view.with == "baseline") view.with.clear();
  return Done{};
}

// Pins a plan: "shown" (or nothing), "start", "none", "torch 0.5", or bytes: the known plan that
// peaks no higher.
Result<Done> pin_plan(App& app, std::string_view what) {
  DocumentView& document = *app.document();
  const std::string requested(what);
  if (requested.rfind("torch", 0) == 0) {
    const std::size_t blank = requested.find(' ');
    return pin_torch(app, blank == std::string::npos ? "0.5" : requested.substr(blank + 1));
  }
  if (requested == "none") return drop(app, {});
  if (requested.empty() || requested == "shown") {
    pin(document, document.shown, "before");
  } else if (requested == "start") {
    pin(document, document.start, "nothing recomputed, in program order");
  } else {
    const auto bytes = read_budget(requested, document);
    if (!bytes) return bytes.diagnostics();
    const SharedPlanView plan = document.known.best_within(*bytes);
    if (!plan) return error(fmt::format("no plan is known that peaks within {}", requested));
    pin(document, plan, "plan of " + format_bytes(plan->peak()));
  }
  const PlanView& plan = *document.baseline.plan;
  app.say(fmt::format("Baseline: peak {}, step {}", format_bytes(plan.peak()),
                      format_micros(plan.report().step_us)));
  return Done{};
}

constexpr Command kBaselineRows[] = {
    {"baseline.pin", "Pin this plan as the baseline", "Ctrl+Shift+B",
     "shown, start, none, torch 0.5, or bytes", has_plan, pin_plan},
    {"baseline.drop", "Drop the baseline", "", "", has_baseline, drop},
};

}  // namespace

std::span<const Command> baseline_commands() { return kBaselineRows; }

}  // namespace recut::gui

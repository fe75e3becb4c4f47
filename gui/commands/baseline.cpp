// The baseline: a plan that is pinned, so that the next ones are seen against it in every panel.
#include <fmt/core.h>

#include "engine/support/units.h"
#include "engine/workspace/budget.h"
#include "gui/app/app.h"
#include "gui/app/compare_view.h"
#include "gui/app/conditions.h"
#include "gui/app/errands.h"

namespace recut::gui {
namespace {

bool has_baseline(const App& app) { return has_plan(app) && app.document()->baseline.plan; }

void pin(DocumentView& document, SharedPlanView plan, std::string title) {
  document.baseline.plan = std::move(plan);
  document.baseline.title = std::move(title);
  document.baseline.asked_for.clear();
  // Whoever compares plans compares with it from now on.
  CompareView& view = compare_view(document);
  if (!compared_other(document, view)) view.with.clear();
}

// PyTorch's partition at a fraction of the saved bytes: planned by a job.
Result<Done> pin_torch(App& app, const std::string& fraction) {
  DocumentView& document = *app.document();
  if (const auto budget = parse_budget(fraction, "torch", 0); !budget) return budget.diagnostics();
  app.jobs.cancel(document.baseline.making);
  const std::string title = "PyTorch at " + fraction;
  document.baseline.asked_for = title;
  PlanningRequest request;
  request.strategy = "torch";
  request.budget = fraction;
  request.device = document.wishes.device;
  const auto take = [&app, serial = document.serial, title](JobControl& control,
                                                            Result<SharedPlanView> plan) {
    control.post([&app, serial, plan = std::move(plan), title] {
      DocumentView* document = app.documents.find(serial);
      if (document == nullptr) return;
      document->baseline.asked_for.clear();
      if (!plan) return app.say(format(plan.diagnostics().front()), true);
      pin(*document, *plan, title);
    });
  };
  Job job = planning_job("Planning as PyTorch does", helper_file(document), document.basis, request,
                         take);
  document.baseline.making = app.jobs.start(std::move(job));
  return Done{};
}

Result<Done> drop(App& app, std::string_view) {
  DocumentView& document = *app.document();
  app.jobs.cancel(document.baseline.making);
  document.baseline = {};
  CompareView& view = compare_view(document);
  if (view.with == "baseline") view.with.clear();
  return Done{};
}

// "shown" (or nothing), "start", "none", "torch 0.5", or bytes: the known plan that peaks no
// higher.
Result<Done> pin_plan(App& app, std::string_view what) {
  DocumentView& document = *app.document();
  const std::string wanted(what);
  if (wanted.rfind("torch", 0) == 0) {
    const std::size_t blank = wanted.find(' ');
    return pin_torch(app, blank == std::string::npos ? "0.5" : wanted.substr(blank + 1));
  }
  if (wanted == "none") return drop(app, {});
  if (wanted.empty() || wanted == "shown") {
    pin(document, document.shown, "before");
  } else if (wanted == "start") {
    pin(document, document.start, "nothing recomputed, in program order");
  } else {
    const auto bytes = read_budget(wanted, document);
    if (!bytes) return bytes.diagnostics();
    const SharedPlanView plan = document.known.best_within(*bytes);
    if (!plan) return error(fmt::format("no plan is known that peaks within {}", wanted));
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

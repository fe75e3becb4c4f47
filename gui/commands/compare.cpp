// Commands that choose the baseline of the shown plan.
#include <fmt/core.h>

#include <cstdlib>

#include "gui/app/app.h"
#include "gui/app/compare_view.h"
#include "gui/app/conditions.h"
#include "gui/app/torch_plans.h"

namespace recut::gui {
namespace {

Result<Done> show_panel(App& app) { return app.run("panel.show", "compare"); }

Result<Done> with_torch(App& app, std::string& fraction) {
  const auto read = torch_fraction(fraction);
  if (!read) return read.diagnostics();
  fraction = *read;
  prepare_torch_plan(app, *app.document(), fraction);
  return Done{};
}

Result<Done> with_other(const App& app, std::string_view what, const std::string& number) {
  const auto requested = static_cast<std::size_t>(std::strtoul(number.c_str(), nullptr, 10));
  if (what == "pass" && requested <= app.document()->document->passes.passes.size()) return Done{};
  if (what == "document" && app.documents.find(static_cast<int>(requested)) != nullptr)
    return Done{};
  return error(fmt::format("there is no {} {}", what, number));
}

Result<Done> compare_with(App& app, std::string_view argument) {
  CompareView& view = compare_view(*app.document());
  const std::size_t blank = std::min(argument.find(' '), argument.size());
  const std::string_view what = argument.substr(0, blank);
  std::string rest(argument.substr(std::min(blank + 1, argument.size())));
  Result<Done> done = Done{};
  if (what == "torch" && rest == kRecordedTorch && !has_recorded_torch(*app.document())) {
    done = error("the file has no partition of PyTorch's for this graph");
  } else if (what == "torch") {
    done = with_torch(app, rest);
  } else if (what == "pass" || what == "document") {
    done = with_other(app, what, rest);
  } else if (what == "baseline" && !app.document()->baseline.plan) {
    done = error("no plan is pinned as the baseline");
  } else if (what == "before" && !app.document()->before.plan) {
    done = error("there was no other plan before this one");
  } else if (what != "baseline" && what != "before" && what != "unplanned" && !what.empty()) {
    done = error("compare with unplanned, baseline, before, torch 0.5, document 2 or pass 0");
  }
  if (!done) return done;
  view.with = what == "torch" ? "torch " + rest : std::string(argument);
  return show_panel(app);
}

// PyTorch's plan by the prices and kernels of now; a job. The panel asks when those change.
Result<Done> prepare_compared(App& app, std::string_view) {
  DocumentView& document = *app.document();
  if (const auto fraction = compared_torch(document, compare_view(document)))
    prepare_torch_plan(app, document, *fraction);
  return Done{};
}

// The current PyTorch plan: named by the argument, compared with, or pinned as baseline.
Result<std::string> torch_at_hand(const DocumentView& document, const CompareView& view,
                                  std::string_view named) {
  if (!named.empty()) return torch_fraction(std::string(named));
  if (const auto fraction = compared_torch(document, view)) return *fraction;
  const SharedPlanView& baseline_plan = document.baseline.plan;
  return baseline_plan && baseline_plan->request.strategy == "torch" ? baseline_plan->request.budget
                                                                     : std::string(kUsualTorch);
}

// The budget is PyTorch's own peak, so that both keep as much.
Result<Done> take_torch_peak(App& app, std::string_view named) {
  DocumentView& document = *app.document();
  CompareView& view = compare_view(document);
  const auto fraction = torch_at_hand(document, view, named);
  if (!fraction) return fraction.diagnostics();
  view.with = "torch " + *fraction;
  if (const SharedPlanView torch = torch_plan(document, *fraction)) {
    document.plan_settings.budget_bytes = torch->peak();
    return show_panel(app);
  }
  prepare_torch_plan(app, document, *fraction,
                     [&app, fraction = *fraction](DocumentView& later, const SharedPlanView&) {
                       if (app.document() == &later) (void)app.run("budget.pytorch", fraction);
                     });
  return show_panel(app);
}

constexpr Command kCompareRows[] = {
    {"compare.with", "Compare the plan", "",
     "unplanned, baseline, before, torch 0.5, document 2 or pass 0", has_plan, compare_with},
    {"torch.prepare", "", "", "", has_plan, prepare_compared},
    {"budget.pytorch", "Give Recut PyTorch's peak", "", "", has_plan, take_torch_peak},
};

}  // namespace

std::span<const Command> compare_commands() { return kCompareRows; }

}  // namespace recut::gui

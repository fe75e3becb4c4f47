// What the plan that is shown is compared with.
#include <fmt/core.h>

#include <cstdlib>

#include "engine/support/units.h"
#include "engine/workspace/budget.h"
#include "gui/app/app.h"
#include "gui/app/compare_view.h"
#include "gui/app/conditions.h"
#include "gui/app/errands.h"

namespace recut::gui {
namespace {

Result<Done> show_panel(App& app) { return app.run("panel.show", "compare"); }

// As PyTorch would partition the graph: as slow as its strategy.
void plan_as_torch(App& app, const std::string& fraction) {
  DocumentView& document = *app.document();
  CompareView& view = compare_view(document);
  const std::string key = torch_key(document, fraction);
  if (view.torch.count(key) != 0) return;
  app.jobs.cancel(view.job);
  PlanningRequest request = request_of(document.wishes);
  request.strategy = "torch";
  request.budget = fraction;
  request.choices = {};
  const auto take = [&app, serial = document.serial, key](JobControl& control,
                                                          Result<SharedPlanView> plan) {
    control.post([&app, serial, key, plan = std::move(plan)] {
      DocumentView* document = app.documents.find(serial);
      if (document == nullptr) return;
      if (!plan) return app.say(format(plan.diagnostics().front()), true);
      compare_view(*document).torch[key] = *plan;
    });
  };
  Job job = planning_job(fmt::format("PyTorch's way with {}", document.title),
                         helper_file(document), document.basis, request, take);
  view.job = app.jobs.start(std::move(job));
}

Result<Done> with_torch(App& app, const std::string& fraction) {
  if (const auto budget = parse_budget(fraction, "torch", 0); !budget) return budget.diagnostics();
  plan_as_torch(app, fraction);
  return Done{};
}

Result<Done> with_other(const App& app, std::string_view what, const std::string& number) {
  const auto wanted = static_cast<std::size_t>(std::strtoul(number.c_str(), nullptr, 10));
  if (what == "pass" && wanted <= app.document()->document->passes.passes.size()) return Done{};
  if (what == "document" && app.documents.find(static_cast<int>(wanted)) != nullptr) return Done{};
  return error(fmt::format("there is no {} {}", what, number));
}

Result<Done> compare_with(App& app, std::string_view words) {
  CompareView& view = compare_view(*app.document());
  const std::size_t blank = std::min(words.find(' '), words.size());
  const std::string_view what = words.substr(0, blank);
  const std::string rest(words.substr(std::min(blank + 1, words.size())));
  Result<Done> done = Done{};
  if (what == "torch") {
    done = with_torch(app, rest);
  } else if (what == "pass" || what == "document") {
    done = with_other(app, what, rest);
  } else if (what == "baseline" && !app.document()->baseline.plan) {
    done = error("no plan is pinned as the baseline");
  } else if (what != "baseline" && what != "unplanned" && !what.empty()) {
    done = error("compare with unplanned, baseline, torch 0.5, document 2 or pass 0");
  }
  if (!done) return done;
  view.with = std::string(words);
  return show_panel(app);
}

constexpr Command kCompareRows[] = {
    {"compare.with", "Compare the plan", "", "unplanned, baseline, torch 0.5, document 2 or pass 0",
     has_plan, compare_with},
};

}  // namespace

std::span<const Command> compare_commands() { return kCompareRows; }

}  // namespace recut::gui

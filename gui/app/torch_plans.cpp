#include "gui/app/torch_plans.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/partition/plan_from_saved.h"
#include "engine/partition/replay.h"
#include "engine/workspace/budget.h"
#include "engine/workspace/torch_saved.h"
#include "gui/app/app.h"
#include "gui/jobs/worker_requests.h"

namespace recut::gui {
namespace {

std::string key_of(const DocumentView& document, const std::string& fraction) {
  const PlanSettings& settings = document.plan_settings;
  std::string key = fraction + " " + settings.device + " " + settings.cost_model;
  for (const std::string& setting : settings.torch) key += " " + setting;
  return key;
}

const TorchPlan* find(const DocumentView& document, const std::string& fraction) {
  const auto* plans = find_memory<TorchPlans>(document.memories, kTorchMemory);
  if (plans == nullptr) return nullptr;
  const auto found = plans->find(key_of(document, fraction));
  return found == plans->end() ? nullptr : &found->second;
}

// The planning request of PyTorch's plan, which has no overrides.
PlanningRequest request_for(const DocumentView& document, const std::string& fraction) {
  PlanningRequest request = request_of(document.plan_settings);
  request.strategy = "torch";
  request.budget = fraction;
  request.overrides = {};
  request.torch = document.plan_settings.torch;
  return request;
}

using FoundTorch = std::function<void(JobControl&, Result<SharedPlanView>)>;

// Looks at the partition of the file: as slow as two replays. It may not run.
Job recorded_job(const DocumentView& document, const PlanningRequest& request, FoundTorch found) {
  Job job{
      fmt::format("PyTorch's own plan of {}", document.title), document.serial, true, false, {}};
  job.part = [basis = document.basis, request, found = std::move(found)](JobControl& control) {
    const Graph& graph = basis->document->graph();
    const TorchPartition* own = own_partition(basis->document->file, graph);
    const Plan plan = own == nullptr ? Plan() : plan_of(graph, *own);
    const auto runs = replay(graph, plan);
    if (runs)
      found(control, view_of_plan(*basis, request, plan));
    else
      found(control, runs.diagnostics());
    return false;
  };
  return job;
}

}  // namespace

bool has_recorded_torch(const DocumentView& document) {
  return document.document && own_partition(document.document->file, document.graph()) != nullptr;
}

Result<std::string> torch_fraction(const std::string& text) {
  if (text == kRecordedTorch) return text;
  const auto budget = parse_budget(text, "torch", 0);
  if (!budget) return budget.diagnostics();
  const auto* fraction = std::get_if<SavedFraction>(&*budget);
  return fraction != nullptr ? fmt::format("{:g}", fraction->value) : std::string(kUsualTorch);
}

SharedPlanView torch_plan(const DocumentView& document, const std::string& fraction) {
  const TorchPlan* found = find(document, fraction);
  return found != nullptr ? found->plan : nullptr;
}

bool wants_torch_plan(const App& app, const DocumentView& document, const std::string& fraction) {
  const TorchPlan* found = find(document, fraction);
  if (found == nullptr) return true;
  return found->plan == nullptr && found->faults.empty() && !app.jobs.is_alive(found->making);
}

std::string torch_fault(const DocumentView& document, const std::string& fraction) {
  const TorchPlan* found = find(document, fraction);
  return found != nullptr && !found->faults.empty() ? format(found->faults.front()) : std::string();
}

bool makes_torch_plan(const App& app, const DocumentView& document) {
  const auto* plans = find_memory<TorchPlans>(document.memories, kTorchMemory);
  return plans != nullptr && std::any_of(plans->begin(), plans->end(), [&](const auto& one) {
           return app.jobs.is_alive(one.second.making);
         });
}

void prepare_torch_plan(App& app, DocumentView& document, const std::string& fraction,
                        const TakeTorch& take) {
  const std::string key = key_of(document, fraction);
  TorchPlan& plan = memory_of<TorchPlans>(document.memories, kTorchMemory)[key];
  if (plan.plan) {
    if (take) take(document, plan.plan);
    return;
  }
  app.jobs.cancel(plan.making);  // its result is needed no more
  const auto found = [&app, serial = document.serial, key, take](JobControl& control,
                                                                 Result<SharedPlanView> made) {
    control.post([&app, serial, key, take, made = std::move(made)] {
      DocumentView* document = app.documents.find(serial);
      if (document == nullptr) return;
      TorchPlan& plan = memory_of<TorchPlans>(document->memories, kTorchMemory)[key];
      if (!made) plan.faults = made.diagnostics();
      if (!made) return app.say(format(plan.faults.front()), true);
      plan.plan = *made;
      if (take) take(*document, plan.plan);
    });
  };
  const PlanningRequest request = request_for(document, fraction);
  plan.making =
      app.jobs.start(fraction == kRecordedTorch
                         ? recorded_job(document, request, found)
                         : planning_job(fmt::format("PyTorch's partitioner on {}", document.title),
                                        helper_file(document), document.basis, request, found));
}

void renew_torch_baseline(App& app, DocumentView& document) {
  const SharedPlanView& baseline_plan = document.baseline.plan;
  if (!baseline_plan || baseline_plan->request.strategy != "torch") return;
  if (baseline_plan->request.device == document.plan_settings.device &&
      baseline_plan->request.cost_model == document.plan_settings.cost_model &&
      baseline_plan->request.torch == document.plan_settings.torch)
    return;
  document.baseline.pending_title = document.baseline.title;
  prepare_torch_plan(app, document, baseline_plan->request.budget,
                     [baseline_plan](DocumentView& later, const SharedPlanView& plan) {
                       if (later.baseline.plan != baseline_plan) return;
                       later.baseline.plan = plan;
                       later.baseline.pending_title.clear();
                     });
}

}  // namespace recut::gui

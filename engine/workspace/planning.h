// Plans a document's graph and reports on the plan.
#pragma once

#include <optional>
#include <string>

#include "engine/ir/plan.h"
#include "engine/partition/baseline.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"
#include "engine/support/result.h"
#include "engine/workspace/cost_model.h"
#include "engine/workspace/document.h"
#include "engine/workspace/named_overrides.h"
#include "engine/workspace/plan_report.h"

namespace recut {

struct PlanningRequest {
  std::string strategy = "peak";
  std::string budget = "none";  // as budget.h reads it
  SearchLimits limits;
  std::string device = std::string(kReferenceDevice);  // as find_device reads it
  std::string cost_model = "eager";                    // as find_cost_model reads it
  OverrideRequest overrides;
  std::int64_t alignment = 1;            // see PlanRequest
  std::optional<DeviceProfile> profile;  // replaces the profile that `device` names
  std::vector<std::string> torch;        // settings of strategy torch, as read_torch_options has it
};

struct Planned {
  Plan plan;
  PlanReport report;
  CostModel costs;
  Replay replay;  // its steps are the report's timeline
};

// Plans by a strategy and replays the plan. Fails on a budget or cost model that the strategy
// doesn't take, and on an unknown device. An infeasible peak is no failure: the report's proof says
// so, and the plan is the one of the lowest peak. If the model's kernels can't hold the budget,
// smaller ones are tried: Planned::costs names the kernels of the plan.
Result<Planned> plan_document(const Document& document, const PlanningRequest& request);

// The same for one cost model only. A budget in percent is of `baseline_cost`.
Result<Planned> plan_document(const Document& document, const PlanningRequest& request,
                              const CostModel& costs, const BaselineCost& baseline_cost);

// Merges the other kernels' search time and bounds into the report of the chosen plan.
void merge_findings(PlanReport& taken, const PlanReport& other);

// Reports on a given plan with the kernels that `findings` name: costs one replay. Fails if the
// plan can't run.
Result<Planned> measure_plan(const Document& document, const PlanningRequest& request,
                             const CostModel& costs, const BaselineCost& baseline_cost,
                             const Plan& plan, const PlanFindings& findings = {});

// {"forward": [names], "saved": [names], "backward": [names], "same": {name: name}, "peak_bytes":
// n, …}: in the file's own node names if no pass ran; `same` has the aliases from interning.
std::string plan_file_json(const Graph& graph, const Planned& planned);

struct Explanation;  // reasons.h

// The report's figures and tables, for scripts.
std::string plan_report_json(const PlanReport& report);

// The same with "explain", if there are explanations.
std::string plan_report_json(const PlanReport& report,
                             const std::vector<Explanation>& explanations);

}  // namespace recut

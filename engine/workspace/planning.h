// Plans a document's graph and reports what the plan comes to.
#pragma once

#include <optional>
#include <string>

#include "engine/ir/plan.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"
#include "engine/partition/unplanned.h"
#include "engine/support/result.h"
#include "engine/workspace/choices.h"
#include "engine/workspace/cost_model.h"
#include "engine/workspace/document.h"
#include "engine/workspace/plan_report.h"

namespace recut {

struct PlanningRequest {
  std::string strategy = "peak";
  std::string budget = "none";  // as budget.h reads it
  SearchLimits limits;
  std::string device = std::string(kReferenceDevice);  // as find_device reads it
  std::string cost_model = "eager";                    // as find_cost_model reads it
  ChoiceRequest choices;
  std::int64_t alignment = 1;            // as PlanRequest has it
  std::optional<DeviceProfile> profile;  // in place of the one that `device` names
};

struct Planned {
  Plan plan;
  PlanReport report;
  CostModel costs;
  Replay replay;  // its steps are those of the report's timeline
};

// Plans by a strategy and replays the plan. Fails where the budget or the model of cost is none
// that the strategy takes, and where there is no such device. A peak that can't be held is no
// failure: the report's proof says so, and the plan is the one that peaks lowest. Where the model's
// kernels can't hold it, it is planned for smaller ones: the plan's costs say which it is for.
Result<Planned> plan_document(const Document& document, const PlanningRequest& request);

// The same for the kernels of one model of cost alone. A budget in percent is of `unplanned`.
Result<Planned> plan_document(const Document& document, const PlanningRequest& request,
                              const CostModel& costs, const Unplanned& unplanned);

// Adds what the search for the other kernels found to the report of the plan that was taken.
void tell_of_both(PlanReport& taken, const PlanReport& other);

// What a plan that is known already comes to with the kernels that the findings name, as slow as a
// replay. Fails where the plan can't run.
Result<Planned> measure_plan(const Document& document, const PlanningRequest& request,
                             const CostModel& costs, const Unplanned& unplanned, const Plan& plan,
                             const PlanFindings& findings = {});

// {"forward": [names], "saved": [names], "backward": [names], "same": {name: name}, "peak_bytes":
// n, …}: in the file's own node names where no pass ran; `same` are the names that interning made
// one node's.
std::string plan_file_json(const Graph& graph, const Planned& planned);

struct Explanation;  // reasons.h

// The report's figures and tables, for scripts.
std::string plan_report_json(const PlanReport& report);

// The same with "explain", where something was asked for.
std::string plan_report_json(const PlanReport& report,
                             const std::vector<Explanation>& explanations);

}  // namespace recut

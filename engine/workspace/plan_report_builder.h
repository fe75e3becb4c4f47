// Builds a plan's report from its replay, in O(steps + instances log instances).
#pragma once

#include "engine/partition/replay.h"
#include "engine/workspace/plan_report.h"

namespace recut {

// The kind that reports show for an instance's class.
MemoryKind kind_of(InstanceClass instance);

// Fills in everything that follows from the graph and the plan. The caller adds model, strategy,
// budget, solve time and the baseline.
PlanReport report_of(const Graph& graph, const Plan& plan, const Replay& replay);

}  // namespace recut

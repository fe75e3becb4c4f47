// Makes a plan's report from its replay.
#pragma once

#include "engine/partition/replay.h"
#include "engine/workspace/plan_report.h"

namespace recut {

// What people are told of an instance's class.
MemoryKind kind_of(InstanceClass instance);

// Everything that follows from the graph and the plan; model, strategy, budget, solve time and the
// peak without recomputation are the caller's to fill in.
PlanReport report_of(const Graph& graph, const Plan& plan, const Replay& replay);

}  // namespace recut

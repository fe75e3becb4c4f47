// A plan's report as text, for terminals and logs.
#pragma once

#include <string>

#include "engine/workspace/plan_report.h"

namespace recut {

// The reason why a budget can't be held, and the lowest one that can.
std::string infeasible_budget_text(const PlanReport& report);

// The peak and its step, the saved and recomputed values with their cost, the ten largest saved
// storages, the ten most expensive recomputations.
std::string plan_text(const PlanReport& report);

}  // namespace recut

// A plan's report in words, for terminals and logs.
#pragma once

#include <string>

#include "engine/workspace/plan_report.h"

namespace recut {

// Why a budget can't be held, and what can.
std::string out_of_reach_text(const PlanReport& report);

// Peak and where it is, what is saved, what is recomputed and what that costs, the ten largest
// saved values, the ten dearest recomputations.
std::string plan_text(const PlanReport& report);

}  // namespace recut

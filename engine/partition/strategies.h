// The strategies behind the table (strategies.def).
#pragma once

#include "engine/partition/strategy.h"

namespace recut {

#define RECUT_STRATEGY(identifier, name, prose) \
  Result<PlanOutcome> identifier(const Graph& graph, const Budget& budget);
#include "engine/partition/strategies.def"
#undef RECUT_STRATEGY

}  // namespace recut

// The largest size of a graph whose plan holds a budget: the batch that fits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "engine/support/result.h"
#include "engine/workspace/document.h"
#include "engine/workspace/planning.h"

namespace recut {

// The plan of one size.
struct FitPoint {
  bool holds = false;
  std::int64_t peak_bytes = 0;  // of the plan; where none holds the budget, the least that is found
  double step_us = 0, recompute_us = 0;
};

struct Fit {
  std::int64_t size = 0;  // the largest whose plan holds the budget; 0: none
  // By size: `size` itself is among them, and the next one where that is refused.
  std::map<std::int64_t, FitPoint> tried;
};

struct FitRequest {
  std::int64_t least = 1, most = 1 << 30;
  std::int64_t start = 1;    // the size to try first, as the traced one
  PlanningRequest planning;  // its budget is in bytes
  // The graph of that size.
  std::function<Result<Document>(std::int64_t size)> open;
  std::function<void(std::int64_t size)> progress = [](std::int64_t) {};
};

// Looks for a size that holds with the next one refused, from `start` on by the ratio of budget and
// peak, then between them. The least peak grows with the size; where a planner's own doesn't, a
// larger size may hold, too. Fails as `open` and plan_document do.
Result<Fit> fit_size(const FitRequest& request);

}  // namespace recut

// The largest size of a graph whose plan holds a budget: the batch that fits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/input/symbols.h"
#include "engine/support/result.h"
#include "engine/workspace/document.h"
#include "engine/workspace/planning.h"

namespace recut {

// The plan at one size.
struct FitPoint {
  bool holds = false;
  std::int64_t peak_bytes = 0;  // of the plan; if none holds the budget, the minimum found
  double step_us = 0, recompute_us = 0;
};

struct Fit {
  std::int64_t size = 0;  // the largest whose plan holds the budget; 0: none
  // By size; has `size`, and `size` + 1 if that was refused.
  std::map<std::int64_t, FitPoint> tried;
};

struct FitRequest {
  std::int64_t min_size = 1, max_size = 1 << 30;
  std::int64_t start = 1;    // the size to try first, usually the traced one
  PlanningRequest planning;  // its budget is in bytes
  // Opens the graph at a size.
  std::function<Result<Document>(std::int64_t size)> open;
  std::function<void(std::int64_t size)> progress = [](std::int64_t) {};
};

// The file's symbols of these names, with the sizes that it was read with. Fails on a name that no
// size of the graph has.
Result<std::vector<BoundSymbol>> symbols_to_fit(const GraphFile& file,
                                                const std::vector<std::string>& names);

// Starts at the size of the first symbol, within the ranges of all. Fails if the ranges leave none.
Result<Done> bound_by(const std::vector<BoundSymbol>& symbols, FitRequest& request);

// {"symbols", "budget_bytes", "size", "tried": [{"size", "holds", "peak_bytes", "step_us",
// "recompute_us", "us_per_unit"}]}.
std::string fit_json(const std::vector<std::string>& symbols, const Fit& fit,
                     std::int64_t budget_bytes);

// Finds a size whose plan holds while the next size's doesn't: from `start` on by the ratio of
// budget and peak first, then by bisection. It assumes that the minimum peak grows with the size;
// if the planner's doesn't, a larger size may hold too. Fails as `open` and plan_document do. Cost:
// one plan for each tried size, O(log size) of them.
Result<Fit> fit_size(const FitRequest& request);

}  // namespace recut

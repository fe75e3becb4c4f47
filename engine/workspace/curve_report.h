// The trade-off of a graph, peak against step time, as plain values: for the command, the window
// and the page alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/fusion/fuse_pointwise.h"

namespace recut {

// What one plan comes to, as its replay measures it.
struct CurvePoint {
  Fusion fusion = Fusion::none;   // the kernels that the plan is for
  std::int64_t budget_bytes = 0;  // of the peak; a point of PyTorch's has none: its own peak
  std::int64_t peak_bytes = 0;
  std::int64_t saved_bytes = 0;
  double step_us = 0;
  double recompute_us = 0;
  std::int64_t recomputed_runs = 0;
  double recompute_bound_us = 0;  // proved: no plan within the budget recomputes for less
  bool optimal = false;           // the bound is reached
  double solve_ms = 0;  // an equal share of the curve's; of PyTorch's points the time of that plan
  double fraction = 0;  // PyTorch's points: its own budget, of the saved bytes
};

struct CurveReport {
  std::string model;
  std::string graph_key;  // "joint", "joint_after_passes", "" for the text form
  std::int64_t nodes = 0;

  // By rising budget, from the least peak that was found to the one where nothing is recomputed. A
  // larger budget never costs more time.
  std::vector<CurvePoint> points;

  std::vector<CurvePoint> torch;  // by falling fraction
  bool torch_recorded = false;    // chosen by PyTorch itself; false: by strategy torch

  std::int64_t peak_bound_bytes = 0;      // proved: no order peaks below it
  std::int64_t peak_bytes_unplanned = 0;  // as CostModel::unplanned says
  double step_us_unplanned = 0;
  double once_us = 0;     // every node run once
  double solve_ms = 0;    // planning the curve
  double first_ms = 0;    // until a coarse curve was known
  bool complete = false;  // false: still being made, or ended early

  // The cheapest point that peaks no higher than this; null where there is none.
  const CurvePoint* cheapest_within(std::int64_t peak_bytes) const;
};

}  // namespace recut

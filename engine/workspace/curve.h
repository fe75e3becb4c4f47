// The trade-off curve of a document's graph, peak against step time: a plan for each of many
// budgets, and PyTorch's plans for comparison. A coarse curve comes first, so that a screen can
// draw it early.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/fusion/fuse_pointwise.h"
#include "engine/ir/plan.h"
#include "engine/workspace/cost_model.h"
#include "engine/workspace/named_overrides.h"

namespace recut {

// The figures of one plan, measured by its replay.
struct CurvePoint {
  Fusion fusion = Fusion::none;   // the kernels of the plan
  std::int64_t budget_bytes = 0;  // of the peak; for PyTorch's points: their peak
  std::int64_t peak_bytes = 0;
  std::int64_t saved_bytes = 0;
  double step_us = 0;
  double recompute_us = 0;
  std::int64_t recomputed_runs = 0;
  double recompute_bound_us = 0;  // proved: no plan within the budget takes less
  bool optimal = false;           // the bound is reached
  double solve_ms = 0;            // an equal share of the curve's; PyTorch's points: that plan's
  double fraction = 0;            // PyTorch's points: the budget, a fraction of the saved bytes
};

struct CurveReport {
  std::string model;
  std::string graph_key;  // "joint", "joint_after_passes", "" for the text form
  std::int64_t nodes = 0;
  bool inference = false;  // of a forward graph: nothing is saved, and PyTorch has no points

  // By rising budget, from the minimum peak to the one without recomputation. A larger budget never
  // costs more time.
  std::vector<CurvePoint> points;

  std::vector<CurvePoint> torch;            // by falling fraction
  bool torch_recorded = false;              // chosen by PyTorch itself; false: by strategy torch
  std::vector<std::string> torch_settings;  // of that strategy, without usual ones

  std::int64_t peak_bound_bytes = 0;     // proved: no order peaks below it
  std::int64_t baseline_peak_bytes = 0;  // see CostModel::baseline_cost
  double baseline_step_us = 0;
  double once_us = 0;     // every node run once
  double solve_ms = 0;    // planning the curve
  double first_ms = 0;    // until the coarse curve
  bool complete = false;  // false: in progress, or ended early

  // The fastest point that peaks no higher than this; null if there is none.
  const CurvePoint* cheapest_within(std::int64_t peak_bytes) const;
};

inline constexpr std::size_t kMaxCurvePoints = 10'000;

struct Curve {
  CurveReport report;
  std::vector<Plan> plans;  // of report.points
};

struct CurveRequest {
  std::size_t points = 50;  // 2 … kMaxCurvePoints; fewer if fewer budgets exist
  double effort = 1;        // multiple of the default; the same effort gives the same curve
  std::uint64_t seed = 1;
  std::string device = std::string(kReferenceDevice);  // as find_cost_model reads it
  std::string cost_model = "eager";
  OverrideRequest overrides;
  std::function<void(const Curve&)> on_curve;  // called with the incomplete curve
  const std::atomic<bool>* cancel = nullptr;   // ends the work early, with the curve so far
  std::function<bool()> stop;                  // the same, polled on the working thread
  std::optional<DeviceProfile> profile;        // replaces the profile that `device` names
  std::vector<std::string> torch;              // settings of strategy torch, for PyTorch's points
};

}  // namespace recut

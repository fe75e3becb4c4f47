// The trade-off curve of a document's graph, peak against step time: a plan for each of many
// budgets, and PyTorch's plans for comparison. A coarse curve comes first, so that a screen can
// draw it early.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/ir/plan.h"
#include "engine/workspace/cost_model.h"
#include "engine/workspace/curve_report.h"
#include "engine/workspace/named_overrides.h"

namespace recut {

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
};

}  // namespace recut

// The whole trade-off of a document's graph: a plan for each of many budgets, PyTorch's own beside
// them. Made coarsely at first and then better, so that a screen has something to draw at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/ir/plan.h"
#include "engine/workspace/choices.h"
#include "engine/workspace/cost_model.h"
#include "engine/workspace/curve_report.h"

namespace recut {

inline constexpr std::size_t kMostCurvePoints = 10'000;

struct Curve {
  CurveReport report;
  std::vector<Plan> plans;  // of report.points
};

struct CurveRequest {
  std::size_t points = 50;  // 2 … kMostCurvePoints; fewer come back where fewer budgets exist
  double effort = 1;  // as a multiple of what is enough for most; the same gives the same curve
  std::uint64_t seed = 1;
  std::string device = std::string(kReferenceDevice);  // both as find_cost_model reads them
  std::string cost_model = "eager";
  ChoiceRequest choices;
  std::function<void(const Curve&)> on_curve;  // the curve so far; not yet complete
  const std::atomic<bool>* cancel = nullptr;   // ends the work early, with what it has
  std::function<bool()> stop;            // the same, asked over and over on the thread that works
  std::optional<DeviceProfile> profile;  // in place of the one that `device` names
};

}  // namespace recut

// Exports a curve as CSV, as JSON, and as text for people.
#pragma once

#include <span>
#include <string>

#include "engine/workspace/curve_report.h"

namespace recut {

// One row a point, ascending, then PyTorch's (column `strategy`: peak, torch; column `fraction`:
// PyTorch's own budget).
std::string curve_csv(const CurveReport& report);

// `plans`: empty, or one for each point, as plan_file_json writes it.
std::string curve_json(const CurveReport& report, std::span<const std::string> plans = {});

// The ends with their bounds, some of the points, and PyTorch's plans beside ours at the same peak.
std::string curve_text(const CurveReport& report);

}  // namespace recut

// Exports a curve as CSV, as JSON, and as text for users, and reads the JSON again.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/workspace/curve.h"

namespace recut {

// One row a point, ascending, then PyTorch's (column `strategy`: peak, torch; column `fraction`:
// PyTorch's own budget).
std::string curve_csv(const CurveReport& report);

// `plans`: empty, or one for each point, as plan_file_json writes it.
std::string curve_json(const CurveReport& report, std::span<const std::string> plans = {});

// Reads the report without the plans, as the bundled samples have it. `json` must be curve_json's
// own output: a CHECK fails on anything else.
CurveReport parse_curve_json(std::string_view json);

// The ends with their bounds, some of the points, and PyTorch's plans beside ours at the same peak.
std::string curve_text(const CurveReport& report);

}  // namespace recut

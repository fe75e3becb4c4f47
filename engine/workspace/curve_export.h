// A curve for other programs and for people: CSV, JSON, words.
#pragma once

#include <span>
#include <string>

#include "engine/workspace/curve_report.h"

namespace recut {

// One row a point, ascending, then PyTorch's (column `strategy`: peak, torch; column `fraction`:
// PyTorch's own budget).
std::string curve_csv(const CurveReport& report);

// `plans`: of the points, as plan_file_json writes them, to stand with them; or none.
std::string curve_json(const CurveReport& report, std::span<const std::string> plans = {});

// The ends and what is proved of them, some of the points, and PyTorch's beside ours at the same
// peak.
std::string curve_text(const CurveReport& report);

}  // namespace recut

// Reads a curve that curve_json wrote, as the bundled samples have it.
#pragma once

#include <string_view>

#include "engine/workspace/curve_report.h"

namespace recut {

// Reads the report without the plans. `json` must be curve_json's own output: a CHECK fails on
// anything else.
CurveReport parse_curve_json(std::string_view json);

}  // namespace recut

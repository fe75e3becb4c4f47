// Reads a trade-off that curve_json wrote. The ones that come with the program are data of ours.
#pragma once

#include <string_view>

#include "engine/workspace/curve_report.h"

namespace recut {

// Without its plans. `json`: as curve_json writes it; anything else is a mistake of ours, a failed
// CHECK.
CurveReport read_own_curve(std::string_view json);

}  // namespace recut

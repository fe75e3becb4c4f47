// Reads measurements in an fx-joint-graph: "measured" of a node, and the file's device and
// allocator metadata.
#pragma once

#include <string_view>

#include "engine/input/diagnostic_collector.h"
#include "engine/input/json.h"
#include "engine/input/json_fields.h"
#include "engine/ir/measurements.h"

namespace recut {

inline constexpr std::string_view kGranularityKey = "allocation_granularity";
inline constexpr std::string_view kMeasuredOnKey = "measured_on";

// {"us": 12.3, "workspace_bytes": 1048576}: microseconds from 0 to 1e12 and bytes from 0 to 2^50;
// either may be missing. Reports anything else. `name` is the node's name.
Measurement read_measurement(JsonValue object, std::string_view name,
                             DiagnosticCollector& diagnostics);

// "allocation_granularity", 1 to 2^30 bytes, and "measured_on", a text, of the file.
void read_measurement_metadata(JsonFields& file, Measurements& measurements);

}  // namespace recut

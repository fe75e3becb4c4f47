// The workspaces of library calls, as a device profile has measured them: scratch bytes that are
// alive while the call runs, and that plans account for.
#pragma once

#include <cstdint>

#include "engine/cost/device_profile.h"
#include "engine/workspace/document.h"

namespace recut {

// The document's graph after its passes, for adding measurements.
Graph& planned_graph(Document& document);

// Adds the workspaces that the profile has for this graph; none if it was measured on another one.
// Those above `max_bytes` are left out: their calls run without.
Result<Done> add_library_workspaces(Document& document, const DeviceProfile& profile,
                                    std::int64_t max_bytes);

}  // namespace recut

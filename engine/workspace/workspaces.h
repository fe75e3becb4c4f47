// The workspaces of library calls, which a device's profile has measured of a graph: bytes beside
// the operands of a call, alive while it runs, and a part of what is planned.
#pragma once

#include <cstdint>

#include "engine/cost/device_profile.h"
#include "engine/workspace/document.h"

namespace recut {

// The document's graph after its passes, to be given measurements.
Graph& planned_graph(Document& document);

// Gives that graph the workspaces that the profile has of it; none where it is of another graph.
// Those above `most` bytes are left out: their calls run without.
Result<Done> add_workspaces(Document& document, const DeviceProfile& profile, std::int64_t most);

}  // namespace recut

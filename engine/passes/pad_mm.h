// pad_mm for a device of one's own: the pass of the table decides by Device's defaults.
#pragma once

#include "engine/cost/device.h"
#include "engine/passes/pass.h"

namespace recut {

// Under the name pad_mm, to stand in RunnerOptions::more.
Pass pad_mm_pass(const Device& device);

}  // namespace recut

// pad_mm for a given device. The pass of the table assumes Device's defaults.
#pragma once

#include "engine/cost/device.h"
#include "engine/passes/pass.h"

namespace recut {

// A pass named pad_mm, for RunnerOptions::more.
Pass pad_mm_pass(const Device& device);

}  // namespace recut

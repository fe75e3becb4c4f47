// channels_last for a given device. The pass of the table assumes Device's defaults: tensor cores
// take f32, rounded to tf32. They always take f16 and bf16.
#pragma once

#include "engine/cost/device.h"
#include "engine/passes/pass.h"

namespace recut {

// A pass named channels_last, for RunnerOptions::more.
Pass channels_last_pass(const Device& device);

}  // namespace recut

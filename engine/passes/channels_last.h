// channels_last for a device of one's own: the pass of the table takes it that tensor cores take
// f32, rounded to tf32 (Device's defaults). Those of f16 and bf16 they take always.
#pragma once

#include "engine/cost/device.h"
#include "engine/passes/pass.h"

namespace recut {

// Under the name channels_last, to stand in RunnerOptions::more.
Pass channels_last_pass(const Device& device);

}  // namespace recut

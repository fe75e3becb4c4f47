// channels_last for a given device. The pass of the table assumes Device's defaults: tensor cores
// take f32, rounded to tf32. They always take f16 and bf16. Processors whose library keeps weights
// in a layout of its own have a pass of the same name.
#pragma once

#include "engine/cost/device.h"
#include "engine/passes/pass.h"

namespace recut {

// A pass named channels_last, for RunnerOptions::more.
Pass channels_last_pass(const Device& device);

// For the processor's library, in inference: it takes convolutions of f32 channels last as quickly
// as in its own layouts, those of each channel by itself, too, and packs weights once.
Pass channels_last_on_processor_pass();

}  // namespace recut

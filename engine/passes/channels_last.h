// channels_last for a device of one's own: the pass of the table takes it that tensor cores take
// f32, rounded to tf32.
#pragma once

#include "engine/passes/pass.h"

namespace recut {

// Which convolutions a device's tensor cores compute. Those of f16 and bf16 always.
struct TensorCores {
  bool f32 = true;
  bool wherever = false;  // the step runs on this device, whichever the graph names
};

// Under the name channels_last, to stand in RunnerOptions::more.
Pass channels_last_pass(const TensorCores& cores);

}  // namespace recut

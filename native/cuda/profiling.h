// What the kernels of a graph take on a card, as prices of later plans.
#pragma once

#include <functional>
#include <string_view>

#include "engine/cost/device.h"
#include "engine/cost/measured_kernels.h"
#include "engine/workspace/document.h"
#include "native/cuda/execution.h"

namespace recut::cuda {

struct ProfilingRequest {
  std::span<const NamedTensor> tensors;  // in.<name>
  std::uint64_t seed = 0;                // makes the inputs that `tensors` lack
  CallOptions calls;
  int rounds = 9;  // with clocks, and as many without
  std::function<void(std::string_view what)> progress = [](std::string_view) {};
};

struct GraphProfile {
  MeasuredGraph kernels;
  Corrections corrections;
  double step_ms = 0;      // the median step, as it runs where nobody looks at clocks
  double launches_ms = 0;  // what its launches take with clocks between them
};

// Runs the step of a document's graph. `scheduled`: what `ready` was made of. Times are medians and
// add up to the step; workspaces have room to begin where libraries want them to. Fails as
// execute() does.
Result<GraphProfile> profile(const Document& document, const ScheduledPlan& scheduled,
                             const ReadyStep& ready, const ProfilingRequest& request);

}  // namespace recut::cuda

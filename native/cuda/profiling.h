// Measures the kernels of a graph on a GPU, as prices of later plans.
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
  int rounds = 9;  // steps with clocks, and as many without
  std::function<void(std::string_view what)> progress = [](std::string_view) {};
};

struct GraphProfile {
  MeasuredGraph kernels;
  Corrections corrections;
  double step_ms = 0;      // the median step, without clocks
  double launches_ms = 0;  // its launches, with clocks between them
};

// Runs the step of a document's graph. `scheduled`: the plan that `ready` was made of. Times are
// medians and add up to the step. Workspaces have room to begin at the libraries' alignment. Fails
// as execute() does.
Result<GraphProfile> profile(const Document& document, const ScheduledPlan& scheduled,
                             const ReadyStep& ready, const ProfilingRequest& request);

}  // namespace recut::cuda

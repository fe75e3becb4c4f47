// Runs a scheduled training step on a GPU and measures it.
#pragma once

#include <cstdint>
#include <string>

#include "engine/runtime/step_execution.h"
#include "engine/workspace/document.h"
#include "native/cuda/step_cache.h"

namespace recut::cuda {

struct ExecutionRequest : StepExecutionRequest {
  CallOptions calls;
};

struct Execution : StepExecution {
  cache::StepOrigin origin = cache::StepOrigin::compiled;
  // The decrease of the GPU's free memory: Run::taken_bytes, once the step has run.
  std::int64_t taken_bytes = 0;
  std::int64_t scratch_limit_bytes = 0;  // Run::scratch_limit_bytes
  GpuMemory gpu;                         // before the step
  std::string not_recorded;              // why it doesn't run as a CUDA graph, or ""
};

// `ready`: the step of this document's graph. Fails where an input is missing or has another dtype
// or shape than the graph's, where the GPU's memory or a library is missing, where the data is at
// fault, and where the run was ended.
Result<Execution> execute(const Document& document, const ReadyStep& ready,
                          const ExecutionRequest& request);

}  // namespace recut::cuda

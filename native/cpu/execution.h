// Runs a scheduled training step on this machine's processor and measures it.
#pragma once

#include "engine/runtime/step_execution.h"
#include "engine/workspace/document.h"
#include "native/cpu/step_cache.h"

namespace recut::cpu {

struct ExecutionRequest : StepExecutionRequest {
  int threads = 1;
};

struct Execution : StepExecution {
  StepOrigin origin = StepOrigin::compiled;
};

// `ready`: the step of this document's graph. Fails where an input is missing or has another dtype
// or shape than the graph's, where the data is at fault, and where the run was ended.
Result<Execution> execute(const Document& document, const ReadyStep& ready,
                          const ExecutionRequest& request);

}  // namespace recut::cpu

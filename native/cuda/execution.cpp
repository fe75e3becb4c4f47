#include "native/cuda/execution.h"

#include <chrono>

#include "engine/support/clock.h"
#include "native/cuda/precision.h"

namespace recut::cuda {

Result<Execution> execute(const Document& document, const ReadyStep& ready,
                          const ExecutionRequest& request) {
  const Graph& graph = document.graph();
  const auto inputs = inputs_from(graph, request.tensors, request.seed);
  if (!inputs) return inputs.diagnostics();
  const std::vector<Tensor> given = kernel_inputs(graph, ready.step.program(), *inputs);
  const Clock::time_point began = Clock::now();
  auto run = Run::prepare(ready.step, given, request.calls);
  if (!run) return run.diagnostics();
  Execution execution;
  execution.origin = ready.origin;
  execution.compile_ms =
      ready.ms + std::chrono::duration<double, std::milli>(Clock::now() - began).count();
  execution.scratch_bytes = run->scratch_bytes();
  execution.scratch_limit_bytes = run->scratch_limit_bytes();
  execution.gpu = {ready.step.free_before(), ready.step.gpu()->memory().total};
  StepExecutionRequest step = request;
  step.allowed_error = allowed_error(graph, request.calls.precision);
  if (auto done = execute_step(*run, graph, *inputs, step, {true, true}, execution); !done)
    return done.diagnostics();
  execution.taken_bytes = run->taken_bytes();
  execution.not_recorded = run->not_recorded();
  return execution;
}

}  // namespace recut::cuda

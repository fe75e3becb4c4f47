#include "native/cpu/execution.h"

#include <chrono>

#include "engine/support/clock.h"

namespace recut::cpu {

Result<Execution> execute(const Document& document, const ReadyStep& ready,
                          const ExecutionRequest& request) {
  const Graph& graph = document.graph();
  const auto inputs = inputs_from(graph, request.tensors, request.seed);
  if (!inputs) return inputs.diagnostics();
  std::vector<Tensor> given = kernel_inputs(graph, ready.step.program(), *inputs);
  const Clock::time_point began = Clock::now();
  auto run = Run::prepare(ready.step, std::move(given), request.threads, loop::kMinParallelWork,
                          constant_inputs(graph, ready.step.program()));
  if (!run) return run.diagnostics();
  Execution execution;
  execution.origin = ready.origin;
  execution.compile_ms =
      ready.ms + std::chrono::duration<double, std::milli>(Clock::now() - began).count();
  execution.scratch_bytes = run->scratch_bytes();
  execution.packed_bytes = run->packed_bytes();
  if (auto done = execute_step(*run, graph, *inputs, request, {}, execution); !done)
    return done.diagnostics();
  return execution;
}

}  // namespace recut::cpu

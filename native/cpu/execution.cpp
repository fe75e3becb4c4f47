#include "native/cpu/execution.h"

#include <algorithm>
#include <chrono>

#include "engine/eval/inputs.h"
#include "engine/runtime/measurement.h"
#include "native/cpu/work.h"

namespace recut::cpu {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point began) {
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

double bytes_of(const std::vector<loop::Buffer>& buffers) {
  double bytes = 0;
  for (const loop::Buffer& buffer : buffers) {
    if (buffer.access == loop::Access::scratch) continue;
    const bool twice = buffer.access == loop::Access::updated;
    bytes += (twice ? 2.0 : 1.0) * static_cast<double>(buffer.elements * item_bytes(buffer.dtype));
  }
  return bytes;
}

class Measurement {
 public:
  Measurement(Run& run, const Step& step, const Graph& graph, const DeviceRates& ceilings)
      : run_(run), step_(step), graph_(graph), ceilings_(ceilings) {}

  Result<Done> time(const ExecutionRequest& request, std::uint64_t seed, Execution& execution) {
    const auto steps = time_steps(run_, seed, {request.steps, 0, request.after_step});
    if (!steps) return steps.diagnostics();
    const StepTime& median = (*steps)[steps->size() / 2];
    execution.step_ms_median = median.ms;
    execution.step_ms_min = steps->front().ms;
    execution.times = times_of(median.launch_seconds);
    execution.kernel_ms = kernel_ms(step_.program(), median.launch_seconds);
    return Done{};
  }

 private:
  std::vector<KernelTime> times_of(const std::vector<double>& seconds) const {
    const Program& program = step_.program();
    std::vector<KernelTime> times(program.kernels.size() + program.library.size());
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      const Launch& launch = program.launches[i];
      KernelTime& time = times[launch.kernel + (launch.library ? program.kernels.size() : 0)];
      time.name = program.name_of(launch);
      time.library = launch.library;
      ++time.launches;
      time.ms += 1e3 * seconds[i];
      time.bytes += bytes_of(program.buffers_of(launch));
      const Arithmetic done = arithmetic_of(graph_, launch.calls, ceilings_);
      time.flops += done.flops;
      time.arithmetic_ms += 1e3 * done.seconds;
    }
    std::stable_sort(times.begin(), times.end(),
                     [](const KernelTime& a, const KernelTime& b) { return a.ms > b.ms; });
    return times;
  }

  Run& run_;
  const Step& step_;
  const Graph& graph_;
  const DeviceRates& ceilings_;
};

}  // namespace

KernelTime Execution::whole() const {
  KernelTime whole;
  for (const KernelTime& time : times) {
    whole.launches += time.launches;
    whole.bytes += time.bytes;
    whole.flops += time.flops;
    whole.arithmetic_ms += time.arithmetic_ms;
  }
  whole.name = "the step";
  whole.ms = step_ms_median;
  return whole;
}

Result<Execution> execute(const Document& document, const ReadyStep& ready,
                          const ExecutionRequest& request) {
  const Graph& graph = document.graph();
  const auto inputs = inputs_from(graph, request.tensors, request.seed);
  if (!inputs) return inputs.diagnostics();

  const Step& step = ready.step;
  Execution execution;
  execution.origin = ready.origin;
  execution.kernels = step.program().kernels.size() + step.program().library.size();
  execution.launches = step.program().launches.size();
  execution.planned_peak_bytes = step.program().arena_bytes;

  std::vector<Tensor> given;
  for (const NodeId id : step.program().inputs)
    given.push_back(as_kernels_read(graph.type(id), inputs->at(id)));
  const Clock::time_point began = Clock::now();
  auto prepared = Run::prepare(step, std::move(given), request.threads);
  if (!prepared) return prepared.diagnostics();
  Run& run = *prepared;
  execution.compile_ms = ready.ms + ms_since(began);
  execution.scratch_bytes = run.scratch_bytes();

  request.progress("running");
  const std::uint64_t seed = request.seed.value_or(0);
  const auto touched = touched_bytes(run, seed);
  if (!touched) return touched.diagnostics();
  execution.measured_peak_bytes = *touched;
  const DeviceRates ceilings = request.ceilings.value_or(DeviceRates());
  Measurement measurement(run, step, graph, ceilings);
  if (auto done = measurement.time(request, seed, execution); !done) return done.diagnostics();
  if (!request.check) return execution;
  request.progress("interpreting the same, to compare");
  EvaluateOptions options;
  options.seed = seed;
  auto outputs = compare_with_interpreter(graph, *inputs, options, run.outputs());
  if (!outputs) return outputs.diagnostics();
  execution.outputs = std::move(*outputs);
  return execution;
}

}  // namespace recut::cpu

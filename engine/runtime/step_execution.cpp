#include "engine/runtime/step_execution.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "engine/cost/device.h"
#include "engine/ir/data_flow.h"
#include "engine/ir/graph_signature.h"
#include "engine/runtime/flop_count.h"
#include "engine/runtime/program_text.h"

namespace recut {
namespace {

double bytes_of(const std::vector<loop::Buffer>& buffers) {
  double bytes = 0;
  for (const loop::Buffer& buffer : buffers) {
    if (buffer.access == loop::Access::scratch) continue;
    const bool twice = buffer.access == loop::Access::read_write;
    bytes += (twice ? 2.0 : 1.0) * static_cast<double>(buffer.elements * item_bytes(buffer.dtype));
  }
  return bytes;
}

std::vector<KernelTime> times_of(const Program& program, const Graph& graph,
                                 const StepExecutionRequest& request, StepTraits traits,
                                 const std::vector<double>& seconds) {
  const DeviceRates ceilings = request.ceilings.value_or(DeviceRates());
  std::vector<KernelTime> times(program.kernels.size() + program.library.size());
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const Launch& launch = program.launches[i];
    KernelTime& time = times[launch.kernel + (launch.library ? program.kernels.size() : 0)];
    time.name = program.name_of(launch);
    time.library = launch.library &&
                   !(traits.has_own_attention && std::holds_alternative<library::Attention>(
                                                     program.library[launch.kernel].calls.front()));
    ++time.launches;
    time.ms += 1e3 * seconds[i];
    time.predicted_ms += 1e-3 * launch.predicted_us;
    time.bytes += bytes_of(program.buffers_of(launch));
    const Arithmetic done = arithmetic_of(graph, launch.calls, ceilings);
    time.flops += done.flops;
    time.arithmetic_ms += 1e3 * done.seconds;
  }
  std::stable_sort(times.begin(), times.end(),
                   [](const KernelTime& a, const KernelTime& b) { return a.ms > b.ms; });
  return times;
}

}  // namespace

KernelTime StepExecution::whole() const {
  KernelTime whole;
  for (const KernelTime& time : times) {
    whole.launches += time.launches;
    whole.predicted_ms += time.predicted_ms;
    whole.bytes += time.bytes;
    whole.flops += time.flops;
    whole.arithmetic_ms += time.arithmetic_ms;
  }
  whole.name = "the step";
  whole.ms = step_ms_median;
  return whole;
}

std::vector<Tensor> kernel_inputs(const Graph& graph, const Program& program,
                                  const Inputs& inputs) {
  std::vector<Tensor> given;
  for (const NodeId id : program.inputs)
    given.push_back(as_kernels_read(graph.type(id), inputs.at(id)));
  return given;
}

std::vector<bool> constant_inputs(const Graph& graph, const Program& program) {
  std::vector<bool> constant(program.inputs.size());
  if (is_joint(graph)) return constant;
  std::unordered_set<std::string_view> written;
  if (const GraphSignature* signature = graph.signature.get())
    for (const Mutation& mutation : signature->mutations) written.insert(mutation.input);
  for (std::size_t i = 0; i < constant.size(); ++i) {
    const NodeId input = program.inputs[i];
    const bool weight = !graph.is_input(input) || graph.input_kind(input) == InputKind::parameter;
    constant[i] = weight && written.count(graph.node_name(input)) == 0;
  }
  return constant;
}

Result<Done> execute_step(StepRun& run, const Graph& graph, const Inputs& inputs,
                          const StepExecutionRequest& request, StepTraits traits,
                          StepExecution& execution) {
  const Program& program = run.program();
  execution.program = program_digest(program);
  execution.kernels = program.kernels.size() + program.library.size();
  execution.launches = program.launches.size();
  execution.planned_peak_bytes = program.arena_bytes;
  request.progress("running");
  const std::uint64_t seed = request.seed.value_or(0);
  const auto touched = touched_bytes(run, seed);
  if (!touched) return touched.diagnostics();
  execution.measured_peak_bytes = *touched;
  const auto steps =
      time_steps(run, seed, {request.steps, 0, request.after_step, traits.times_launches_apart});
  if (!steps) return steps.diagnostics();
  const StepTime& median = (*steps)[steps->size() / 2];
  execution.step_ms_median = median.ms;
  execution.step_ms_min = steps->front().ms;
  execution.times = times_of(program, graph, request, traits, median.launch_seconds);
  execution.kernel_ms = kernel_ms(program, median.launch_seconds);
  if (request.keep_outputs) execution.values = run.outputs();
  if (!request.check) return Done{};
  request.progress("interpreting the same, to compare");
  EvaluateOptions options;
  options.seed = seed;
  auto accuracy = judge_outputs(graph, inputs, options, run.outputs(), request.allowed_error);
  if (!accuracy) return accuracy.diagnostics();
  execution.allowed_error = request.allowed_error;
  execution.accuracy = std::move(*accuracy);
  return Done{};
}

}  // namespace recut

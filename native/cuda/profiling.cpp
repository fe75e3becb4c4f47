#include "native/cuda/profiling.h"

#include <algorithm>
#include <numeric>

#include "engine/runtime/kernel_profile.h"
#include "engine/runtime/measurement.h"

namespace recut::cuda {
namespace {

double median(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return of[of.size() / 2];
}

// The median of several steps, for each launch.
Result<std::vector<double>> launch_seconds(Run& run, const ProfilingRequest& request) {
  std::vector<std::vector<double>> rounds(run.program().launches.size());
  std::vector<double> once(rounds.size());
  for (int i = 0; i < request.rounds; ++i) {
    if (auto done = run.run(request.seed, once); !done) return done.diagnostics();
    for (std::size_t k = 0; k < once.size(); ++k) rounds[k].push_back(once[k]);
  }
  std::vector<double> seconds;
  for (std::vector<double>& times : rounds) seconds.push_back(median(std::move(times)));
  return seconds;
}

}  // namespace

Result<GraphProfile> profile(const Document& document, const ScheduledPlan& scheduled,
                             const ReadyStep& ready, const ProfilingRequest& request) {
  const Graph& graph = document.graph();
  const Program& program = ready.step.program();
  const auto inputs = inputs_from(graph, request.tensors, request.seed);
  if (!inputs) return inputs.diagnostics();
  request.progress("choosing the libraries' algorithms");
  auto run = Run::prepare(ready.step, kernel_inputs(graph, program, *inputs), request.calls);
  if (!run) return run.diagnostics();
  request.progress("measuring the graph's kernels");
  for (int warm = 0; warm < 2; ++warm)  // the first as it is, the second captured
    if (auto done = run->run(request.seed); !done) return done.diagnostics();
  Timing timing;
  timing.steps = request.rounds;
  timing.time_launches_apart = true;
  const auto steps = time_steps(*run, request.seed, timing);
  if (!steps) return steps.diagnostics();
  const auto seconds = launch_seconds(*run, request);
  if (!seconds) return seconds.diagnostics();

  GraphProfile profile;
  profile.step_ms = (*steps)[steps->size() / 2].ms;
  profile.launches_ms = 1e3 * std::accumulate(seconds->begin(), seconds->end(), 0.0);
  const CostModel& costs = scheduled.planned.costs;
  const std::vector<double> times = subtract_timer_overhead(
      *seconds, 1e-3 * profile.step_ms, 1e-6 * costs.device.peaks.launch_micros);
  std::vector<std::int64_t> workspaces;
  for (const recut::Launch& launch : program.launches)
    workspaces.push_back(planned_workspace(run->workspace_bytes(launch)));
  profile.kernels = measured_kernels(graph, program, times, workspaces);
  profile.corrections = corrections(graph, *scheduled.kernels, program, times, costs.device.rates);
  return profile;
}

}  // namespace recut::cuda

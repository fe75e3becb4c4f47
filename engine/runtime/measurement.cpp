#include "engine/runtime/measurement.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "engine/support/clock.h"

namespace recut {
namespace {

constexpr int kStepsForLaunches = 5;

// Times a step; `launches` is the number of launches to time, all or none.
Result<StepTime> time_step(StepRun& run, std::uint64_t seed, double min_ms, std::size_t launches) {
  StepTime time{0, std::vector<double>(launches)};
  std::vector<double> once(time.launch_seconds.size());
  int runs = 0;
  const Clock::time_point began = Clock::now();
  do {
    if (auto done = run.run(seed, once); !done) return done.diagnostics();
    time.ms = ms_since(began);
    for (std::size_t i = 0; i < once.size(); ++i) time.launch_seconds[i] += once[i];
    ++runs;
  } while (time.ms < min_ms);
  time.ms /= runs;
  for (double& seconds : time.launch_seconds) seconds /= runs;
  return time;
}

Result<Done> time_launches(StepRun& run, std::uint64_t seed, std::vector<StepTime>& times) {
  const std::size_t launches = run.program().launches.size();
  std::vector<double> mean(launches);
  for (int i = 0; i < kStepsForLaunches; ++i) {
    auto time = time_step(run, seed, 0, launches);
    if (!time) return time.diagnostics();
    for (std::size_t k = 0; k < launches; ++k)
      mean[k] += time->launch_seconds[k] / kStepsForLaunches;
  }
  for (StepTime& time : times) time.launch_seconds = mean;
  return Done{};
}

}  // namespace

Result<std::int64_t> touched_bytes(StepRun& run, std::uint64_t seed) {
  std::int64_t max = 0;
  for (const auto paint : {std::byte{0x5a}, std::byte{0xa5}}) {
    run.paint(paint);
    if (auto done = run.run(seed); !done) return done.diagnostics();
    max = std::max(max, run.end_of_written(paint));
  }
  return max;
}

Result<std::vector<StepTime>> time_steps(StepRun& run, std::uint64_t seed, const Timing& timing) {
  std::vector<StepTime> times;
  const std::size_t launches = timing.time_launches_apart ? 0 : run.program().launches.size();
  for (int i = 0; i < timing.steps; ++i) {
    auto time = time_step(run, seed, timing.min_ms, launches);
    if (!time) return time.diagnostics();
    times.push_back(std::move(*time));
    if (!timing.after_step(i + 1)) return error("the run was ended");
  }
  if (timing.time_launches_apart)
    if (auto done = time_launches(run, seed, times); !done) return done.diagnostics();
  std::stable_sort(times.begin(), times.end(),
                   [](const StepTime& a, const StepTime& b) { return a.ms < b.ms; });
  return times;
}

std::vector<double> kernel_ms(const Program& program, const std::vector<double>& launch_seconds) {
  std::vector<double> ms;
  for (std::size_t i = 0; i < launch_seconds.size(); ++i) {
    const std::uint32_t kernel = program.launches[i].scheduled;
    if (kernel >= ms.size()) ms.resize(kernel + 1, 0);
    ms[kernel] = 1e3 * launch_seconds[i];
  }
  return ms;
}

}  // namespace recut

// Measures a running step: bytes of its arena, and time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/runtime/step_run.h"

namespace recut {

// The end of the bytes that a step writes in its arena. Runs it twice in painted memory (with two
// different byte values, since a step may write one of them), and finds the last changed byte.
Result<std::int64_t> touched_bytes(StepRun& run, std::uint64_t seed);

// The time of a step, and of each launch.
struct StepTime {
  double ms = 0;
  std::vector<double> launch_seconds;
};

// Options of timing.
struct Timing {
  int steps = 10;
  // For coarse clocks (in a browser): each step is repeated for at least this time, and its times
  // are means.
  double min_ms = 0;
  // Called with the number of timed steps. Returning false ends the run, which then fails.
  std::function<bool(int steps)> after_step = [](int) { return true; };
  // For targets where timers between launches slow them down (GPUs): steps are timed without them,
  // and launches in additional steps, as means.
  bool time_launches_apart = false;
};

// Times of `timing.steps` steps, the fastest first.
Result<std::vector<StepTime>> time_steps(StepRun& run, std::uint64_t seed, const Timing& timing);

// Milliseconds by kernel of the schedule, up to the last launched one.
std::vector<double> kernel_ms(const Program& program, const std::vector<double>& launch_seconds);

}  // namespace recut

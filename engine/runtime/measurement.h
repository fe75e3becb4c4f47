// What a step takes when it runs: how much of its arena, and how long.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/eval/compare.h"
#include "engine/eval/evaluator.h"
#include "engine/runtime/step_run.h"

namespace recut {

// How far into its arena a step writes. Runs it twice in memory that was painted before, and looks
// up to where the paint is gone. A byte that happens to be the paint's is another one's in the
// second coat.
Result<std::int64_t> touched_bytes(StepRun& run, std::uint64_t seed);

// One step's time: its own, and that of each launch.
struct StepTime {
  double ms = 0;
  std::vector<double> launch_seconds;
};

// How steps are timed.
struct Timing {
  int steps = 10;
  // Where the clock is too coarse for one step (a page's): each is run again and again for so many
  // milliseconds, and its times are the means.
  double least_ms = 0;
  // Told how many steps were timed; false ends the run, which then fails.
  std::function<bool(int steps)> after_step = [](int) { return true; };
  // Where looking at the clock between launches holds them up (a GPU's): steps are timed without,
  // and their launches are those of further steps, in the mean.
  bool launches_apart = false;
};

// The times of so many steps, the quickest first.
Result<std::vector<StepTime>> time_steps(StepRun& run, std::uint64_t seed, const Timing& timing);

// Milliseconds by kernel of the schedule; the last launched one ends the list.
std::vector<double> kernel_ms(const Program& program, const std::vector<double>& launch_seconds);

// What was computed beside what the interpreter computes of the same inputs and seed. `allowed`:
// compare.h.
Result<std::vector<OutputComparison>> compare_with_interpreter(const Graph& graph,
                                                               const Inputs& inputs,
                                                               const EvaluateOptions& options,
                                                               std::span<const Tensor> found,
                                                               double allowed = 0);

}  // namespace recut

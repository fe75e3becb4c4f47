// Trains with an executor: a number of steps by one plan (trainer.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/input/safetensors.h"
#include "engine/workspace/executor.h"
#include "engine/workspace/scheduling.h"

namespace recut {

struct TrainingRequest {
  std::span<const NamedTensor> tensors;  // in.<name>: parameters to begin with, and constants
  std::uint64_t seed = 0;                // of parameters that `tensors` lack, data, random numbers
  int steps = 100;
  int batches = 8;  // of the data set, cyclic
  std::function<void(int step, double loss)> progress = [](int, double) {};
};

struct Training {
  std::string where;           // "this machine's processor, 2 threads"
  std::vector<double> losses;  // of each step, before its update; ends at the first non-finite one
  double compile_ms = 0;
  double step_ms_median = 0, step_ms_min = 0;  // a step and its copies, without loading the batch
  std::int64_t planned_peak_bytes = 0, measured_peak_bytes = 0;  // of the arena (measurement.h)
  std::int64_t scratch_bytes = 0;                                // of a library, beside it

  // Outside the arena: the inputs by kind.
  std::int64_t parameter_bytes = 0, carried_bytes = 0, data_bytes = 0;

  std::vector<std::pair<std::string, Tensor>> trained;  // parameters and buffers, by name
};

// `document` has a training step (Document::loss). Fails on an operator without a loop form, if the
// executor lacks a compiler, and on an invalid tensor.
Result<Training> train(const Document& document, const ScheduledPlan& scheduled, Executor& executor,
                       const TrainingRequest& request);

}  // namespace recut

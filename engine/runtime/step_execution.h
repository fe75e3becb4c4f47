// A step that runs, measured and checked: the report that executors have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cost/device.h"
#include "engine/eval/inputs.h"
#include "engine/runtime/measurement.h"

namespace recut {

struct StepExecutionRequest {
  std::span<const NamedTensor> tensors;  // in.<name>
  std::optional<std::uint64_t> seed;     // makes the inputs that `tensors` lack
  int steps = 10;                        // that are timed
  bool check = false;                    // compare with the interpreter
  double allowed_error = 0;              // beyond what dtypes allow: compare.h
  bool keep_outputs = false;             // leave their values in the report
  std::optional<DeviceRates> ceilings;   // of what it runs on, where they are known
  std::function<void(std::string_view what)> progress = [](std::string_view) {};
  // After each timed step, how many were; false ends the run.
  std::function<bool(int steps)> after_step = [](int) { return true; };
};

// All launches of one kernel.
struct KernelTime {
  std::string name;
  bool library = false;  // a library's; attention on a card is Recut's own
  int launches = 0;
  double ms = 0;             // of one step, all launches together: the median step's
  double predicted_ms = 0;   // by the plan
  double bytes = 0;          // that the launches read and write once each
  double flops = 0;          // work.h
  double arithmetic_ms = 0;  // that those take at the ceilings' rates

  // What the time would be at the nearer ceiling, of memory or arithmetic, as a share of what it is
  // (the roofline model: Williams, Waterman, Patterson 2009). Above 1 where data stays in caches.
  double share_of(const DeviceRates& ceilings) const {
    return std::max(arithmetic_ms, 1e3 * bytes / ceilings.bytes_per_second) / ms;
  }
};

struct StepExecution {
  std::string program;  // program_digest
  std::size_t kernels = 0, launches = 0;
  double compile_ms = 0;  // until it could run: code, memory and the library's calls
  double step_ms_median = 0, step_ms_min = 0;

  // Bytes of memory that the step's own values take: what the schedule says, and up to where the
  // step really wrote, in memory that was painted before.
  std::int64_t planned_peak_bytes = 0, measured_peak_bytes = 0;
  // What the library needs beside them.
  std::int64_t scratch_bytes = 0;

  std::vector<KernelTime> times;  // slowest first
  KernelTime whole() const;       // all of them together, in the median step's time
  std::vector<double> kernel_ms;  // of the median step, by kernel of the schedule; the last
                                  // launched one ends the list

  bool holds() const { return measured_peak_bytes == planned_peak_bytes; }

  // Results, then gradients; where they were to be kept.
  std::vector<Tensor> values;

  // Where a check was asked for.
  std::vector<OutputComparison> outputs;
  double allowed_error = 0;  // as it was asked for
  bool agrees() const { return all_ok(outputs); }
  double max_relative_error() const { return recut::max_relative_error(outputs); }
};

// The program's inputs as its kernels read them.
std::vector<Tensor> kernel_inputs(const Graph& graph, const Program& program, const Inputs& inputs);

// Measures the peak, then times of steps and launches (`launches_apart`: measurement.h), and
// compares where that is asked for. `inputs`: those that the run was made with. Fails where the
// data is at fault, and where the run was ended.
Result<Done> execute_step(StepRun& run, const Graph& graph, const Inputs& inputs,
                          const StepExecutionRequest& request, bool launches_apart,
                          StepExecution& execution);

}  // namespace recut

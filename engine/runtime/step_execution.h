// Runs, measures and checks a step: the report that all executors share.
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
#include "engine/eval/accuracy.h"
#include "engine/eval/inputs.h"
#include "engine/runtime/measurement.h"

namespace recut {

struct StepExecutionRequest {
  std::span<const NamedTensor> tensors;  // in.<name>
  std::optional<std::uint64_t> seed;     // makes the inputs that `tensors` lack
  int steps = 10;                        // timed steps
  bool check = false;                    // compare with the interpreter
  double allowed_error = 0;              // in addition to the dtypes' rounding: compare.h
  bool keep_outputs = false;             // leave their values in the report
  std::optional<DeviceRates> ceilings;   // rooflines of the device, if known
  std::function<void(std::string_view what)> progress = [](std::string_view) {};
  // Called with the number of timed steps. Returning false ends the run.
  std::function<bool(int steps)> after_step = [](int) { return true; };
};

// Traits of a target.
struct StepTraits {
  bool times_launches_apart = false;  // measurement.h
  bool has_own_attention = false;     // attention in library form is not the library's
};

// All launches of one kernel.
struct KernelTime {
  std::string name;
  bool library = false;  // a library computes it
  int launches = 0;
  double ms = 0;             // of the median step, all launches together
  double predicted_ms = 0;   // by the plan
  double bytes = 0;          // read and written by the launches, once each
  double flops = 0;          // flop_count.h
  double arithmetic_ms = 0;  // time of these at the ceilings' rates

  // The time at the nearer ceiling, memory or arithmetic, over the measured time (the roofline
  // model: Williams, Waterman, Patterson 2009). Above 1 if data stays in caches.
  double share_of(const DeviceRates& ceilings) const {
    return std::max(arithmetic_ms, 1e3 * bytes / ceilings.bytes_per_second) / ms;
  }
};

struct StepExecution {
  std::string program;  // program_digest
  std::size_t kernels = 0, launches = 0;
  double compile_ms = 0;  // code generation, memory and library setup
  double step_ms_median = 0, step_ms_min = 0;

  // Bytes of the arena: by the schedule, and up to the last byte that the step wrote
  // (touched_bytes).
  std::int64_t planned_peak_bytes = 0, measured_peak_bytes = 0;
  // Workspace of libraries, outside of the arena.
  std::int64_t scratch_bytes = 0;
  // Copies of constant inputs in a library's layout, outside of the arena.
  std::int64_t packed_bytes = 0;

  std::vector<KernelTime> times;  // slowest first
  KernelTime whole() const;       // all of them together, in the median step's time
  std::vector<double> kernel_ms;  // of the median step, by kernel of the schedule; the last
                                  // launched one ends the list

  bool holds() const { return measured_peak_bytes == planned_peak_bytes; }

  // Results, then gradients, if keep_outputs was set.
  std::vector<Tensor> values;

  // If a check was requested.
  Accuracy accuracy;
  double allowed_error = 0;  // as requested
  bool agrees() const { return all_ok(accuracy.outputs); }
  double max_relative_error() const { return recut::max_relative_error(accuracy.outputs); }
};

// The program's inputs as its kernels read them.
std::vector<Tensor> kernel_inputs(const Graph& graph, const Program& program, const Inputs& inputs);

// The program's inputs that keep their values from run to run: weights and constants that a forward
// graph doesn't write. None of a joint graph: training changes them.
std::vector<bool> constant_inputs(const Graph& graph, const Program& program);

// Measures the peak, then times steps and launches, and compares with the interpreter if requested.
// `inputs`: the run's inputs. Fails on bad data, and if the run was ended.
Result<Done> execute_step(StepRun& run, const Graph& graph, const Inputs& inputs,
                          const StepExecutionRequest& request, StepTraits traits,
                          StepExecution& execution);

}  // namespace recut

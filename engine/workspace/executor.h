// The interface of executors, which run a scheduled step as machine code: a compiler for this
// machine's processor, CUDA, a browser's engine. A platform without one only shows the code.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/eval/accuracy.h"
#include "engine/fusion/kernel_model.h"
#include "engine/runtime/program.h"
#include "engine/workspace/document.h"
#include "engine/workspace/scheduling.h"

namespace recut {

class StepRun;

// The step to run: a plan of the document's graph as kernels with addresses.
struct ScheduledStep {
  const Document& document;
  const KernelModel& kernels;
  const Schedule& schedule;
  std::int64_t budget_bytes = 0;  // the plan's; 0: none
};

struct StepRunOptions {
  std::uint64_t seed = 1;  // of inputs without a value in the document's file
  int steps = 10;          // timed steps
  bool check = false;      // against the interpreter, on the same inputs
};

// The comparison of a step's outputs with the interpreter's.
struct OutputAgreement {
  explicit OutputAgreement(const Accuracy& accuracy = {});
  bool agrees() const { return problem.empty(); }

  std::uint64_t outputs = 0;
  std::uint64_t by_rounding = 0;  // outputs above the rounding of their dtype, explained by the
                                  // graph's (engine/eval/accuracy.h)
  double max_relative_error = 0;
  std::string problem;                       // of the first other difference; "": none
  std::vector<std::string> ill_conditioned;  // a line for each output that rounding makes so wrong
  std::string no_f64;                        // why the reference isn't in f64; "": it is
};

struct StepMeasurement {
  std::string program;  // program_digest (runtime/program_text.h)
  std::string where;    // "this machine's processor, 2 threads"
  int steps = 0;
  double compile_ms = 0;  // from a schedule to machine code
  double step_ms_median = 0, step_ms_min = 0;

  // The arena: its planned size, and the highest address that the step wrote.
  std::int64_t planned_peak_bytes = 0, measured_peak_bytes = 0;
  std::int64_t scratch_bytes = 0;  // of the library, outside the arena
  std::int64_t packed_bytes = 0;   // of weights in the library's layout, outside the arena
  std::string library;             // the library's name
  // The drop of free GPU memory: the step with its inputs, code and libraries. 0 without a GPU.
  std::int64_t taken_bytes = 0;

  std::vector<double> kernel_ms;             // of one step, by kernel of the schedule
  std::optional<OutputAgreement> agreement;  // if StepRunOptions::check is set
};

// The phases of a run. Nothing is drawn while an executor measures, so that it has the machine.
enum class StepPhase : std::uint8_t { preparing, measuring, checking };
// Called with the share that is done, 0 … 1, and a message; returns false to cancel.
using StepProgress = std::function<bool(StepPhase phase, double share, const std::string& message)>;
// The last message before the measurement.
inline constexpr const char* kCompilingMessage = "compiling; the window rests while it measures";

// A program with its compiled code, ready to run many times.
struct PreparedStep {
  std::shared_ptr<const void> code;  // used by the run
  std::unique_ptr<StepRun> run;      // with outputs in host memory
};
// Gives a program's inputs, laid out as kernels read them, one for each input.
using BindInputs = std::function<std::vector<Tensor>(const Program&)>;

// The library that runs some kernels as calls (runtime/program.h), such as "oneDNN"; no name: none.
// `takes` selects these kernels, `lower` says how the others become loops.
struct KernelLibrary {
  std::string name;
  library::SupportsForm takes = library::is_portable;
  loop::LowerOptions lower;

  ProgramOptions options() const;
  bool operator==(const KernelLibrary& other) const = default;
};

class Executor {
 public:
  virtual ~Executor() = default;
  // `id` is the name in commands and settings: "cpu". The window shows `title` ("This processor")
  // and `remark`, which describes the choice or says why it isn't available.
  virtual std::string id() const = 0;
  virtual std::string title() const = 0;
  virtual std::string remark() const { return {}; }
  // The place at which prepared steps run: "this machine's processor, 2 threads".
  virtual std::string where() const = 0;
  // The device's profile, as find_device reads it; "": unknown. Planned times are compared with
  // measured ones only under this profile.
  virtual std::string device() const { return {}; }
  virtual KernelLibrary library() const { return {}; }
  // The options of `recut run` for a run like this one, such as {"--device", "cuda"}.
  virtual std::vector<std::string> run_words() const { return {}; }
  // Options for programs that run here: with that library, minus the kernels that it refuses. Fails
  // if the machine lacks a compiler or library.
  virtual Result<ProgramOptions> program_options() { return library().options(); }
  // Compiles and runs, on a job's thread or in a worker; blocks until done. Fails on an operator
  // without a loop form, on lack of memory, and on invalid data.
  virtual Result<StepMeasurement> run(const ScheduledStep& step, const StepRunOptions& order,
                                      const StepProgress& progress) = 0;
  // Compiles only: the caller runs the step. Fails as run() does.
  virtual Result<PreparedStep> prepare(Program program, const BindInputs& read) = 0;
};

}  // namespace recut

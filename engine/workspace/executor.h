// What runs a scheduled step as machine code, where the platform has something that does: a
// compiler for this machine's processor, a browser's engine. Who has none shows the code, and can't
// run it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/eval/compare.h"
#include "engine/fusion/kernel_model.h"
#include "engine/runtime/program.h"
#include "engine/workspace/document.h"
#include "engine/workspace/scheduling.h"

namespace recut {

class StepRun;

// What runs: a plan of the document's graph as kernels with addresses.
struct ScheduledStep {
  const Document& document;
  const KernelModel& kernels;
  const Schedule& schedule;
  std::int64_t budget_bytes = 0;  // that the plan was asked to hold; 0: none
};

struct StepOrder {
  std::uint64_t seed = 1;  // makes all inputs
  int steps = 10;          // that are timed
  bool check = false;      // against the interpreter, of the same inputs
};

// Its outputs beside the interpreter's.
struct StepAgreement {
  explicit StepAgreement(std::span<const OutputComparison> outputs = {});
  bool agrees() const { return problem.empty(); }

  std::uint64_t outputs = 0;
  std::uint64_t by_rounding = 0;  // that differ by what rounding alone does (engine/eval/compare.h)
  double max_relative_error = 0;
  std::string problem;  // of the first that differs by more; "" where none does
};

struct StepFigures {
  std::string program;  // program_digest (runtime/program_text.h)
  std::string where;    // "this machine's processor, 2 threads"
  int steps = 0;
  double compile_ms = 0;  // from a schedule to machine code
  double step_ms_median = 0, step_ms_min = 0;

  // Bytes that the step's own values take: what the schedule says, and up to where it really wrote.
  std::int64_t planned_peak_bytes = 0, measured_peak_bytes = 0;
  std::int64_t scratch_bytes = 0;  // of the library, beside them
  std::string library;             // whose scratch that is
  // What a card has less free than before: the step with its inputs, code and libraries. 0 where it
  // ran on none.
  std::int64_t taken_bytes = 0;

  std::vector<double> kernel_ms;           // of one step, by kernel of the schedule
  std::optional<StepAgreement> agreement;  // where it was asked for
};

// The phases of a run. While an executor measures, the machine is its own: nothing is drawn.
enum class StepPhase : std::uint8_t { preparing, measuring, checking };
// How far it is, 0 … 1, and at what; false: it is to end.
using StepProgress = std::function<bool(StepPhase phase, double share, const std::string& words)>;
// The last that is seen of it until it has measured.
inline constexpr const char* kCompilingWords = "compiling; the window rests while it measures";

// A program with its code, ready to run again and again.
struct PreparedStep {
  std::shared_ptr<const void> code;  // that the run reads
  std::unique_ptr<StepRun> run;      // with outputs in this program's memory
};
// What a program of a step reads, as kernels read it: one for each of its inputs.
using ReadBy = std::function<std::vector<Tensor>(const Program&)>;

// What runs the kernels that it takes as calls (runtime/program.h): "oneDNN"; no name: nothing
// does. `lower`: how loops are made of the others.
struct KernelLibrary {
  std::string name;
  library::TakesForm takes = library::is_common;
  loop::LowerOptions lower;

  ProgramOptions options() const;
  bool operator==(const KernelLibrary& other) const = default;
};

class Executor {
 public:
  virtual ~Executor() = default;
  // As commands and settings name it: "cpu". Words for people, where it can be chosen: "This
  // processor"; and more of them: what comes of the choice, or why nothing does.
  virtual std::string id() const = 0;
  virtual std::string title() const = 0;
  virtual std::string remark() const { return {}; }
  // "this machine's processor, 2 threads": where prepared steps run.
  virtual std::string where() const = 0;
  // The profile of the device that it runs on, as find_device reads it, once that is known: planned
  // times are set beside measured ones by no other prices. "" where there is none.
  virtual std::string device() const { return {}; }
  virtual KernelLibrary library() const { return {}; }
  // How programs that run here are made: with that library, but for what it refuses when it is
  // asked. Fails where the machine lacks what runs them.
  virtual Result<ProgramOptions> program_options() { return library().options(); }
  // Compiles and runs, on a job's thread or in a helper; returns when it is done. Fails where an
  // operator has no loops, where the machine lacks the memory, and where the data is at fault.
  virtual Result<StepFigures> run(const ScheduledStep& step, const StepOrder& order,
                                  const StepProgress& progress) = 0;
  // Compiles, and leaves running to whoever asks. Fails as run() does.
  virtual Result<PreparedStep> prepare(Program program, const ReadBy& read) = 0;
};

}  // namespace recut

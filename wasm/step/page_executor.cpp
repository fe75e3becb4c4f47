#include "wasm/step/page_executor.h"

#include <fmt/core.h>

#include <chrono>
#include <memory>
#include <utility>

#include "engine/codegen/wasm/emit.h"
#include "engine/eval/inputs.h"
#include "engine/runtime/measurement.h"
#include "engine/runtime/program_text.h"
#include "engine/support/clock.h"
#include "engine/workspace/compile.h"
#include "wasm/step/parallel_training_run.h"
#include "wasm/step/step.h"

// The page's executor of steps. Where the thread pool has several threads (cross-origin isolation),
// a step runs as a ParallelRun with a shared memory of its own; else as a Run in the program's
// memory. Steps repeat until they have taken long enough for the coarse clock, and times are means.
// A training keeps its parameters in this program's memory, so that they outlive plans.

namespace recut::step {
namespace {

// A page's clock has a resolution of tenths of a millisecond.
constexpr double kMinStepMs = 2;

// Progress of the whole run when execution begins, and when it ends before a check.
constexpr double kCompiled = 0.2, kRan = 0.6;

// The mean of all steps: a page's clock is too coarse for one of them.
std::vector<double> mean_launches(const std::vector<StepTime>& steps) {
  std::vector<double> mean(steps.front().launch_seconds.size());
  for (const StepTime& step : steps)
    for (std::size_t i = 0; i < mean.size(); ++i)
      mean[i] += step.launch_seconds[i] / static_cast<double>(steps.size());
  return mean;
}

class Session {
 public:
  Session(const ScheduledStep& scheduled, const StepRunOptions& order, const StepProgress& progress)
      : scheduled_(scheduled),
        graph_(scheduled.document.graph()),
        order_(order),
        progress_(progress) {}

  Result<StepMeasurement> run() {
    (void)progress_(StepPhase::preparing, 0, kCompilingMessage);
    auto inputs = inputs_from(graph_, scheduled_.document.file.tensors, order_.seed);
    if (!inputs) return inputs.diagnostics();
    if (pool_size() > 1) return on_thread_pool(std::move(*inputs));
    const Clock::time_point began = Clock::now();
    auto program = make();
    if (!program) return program.diagnostics();
    auto step = Step::compile(std::move(*program));
    if (!step) return step.diagnostics();
    figures_.compile_ms = ms_since(began);
    auto run = Run::prepare(*step, inputs_of(step->program(), *inputs));
    if (!run) return run.diagnostics();
    return measured(*run, std::move(*inputs));
  }

 private:
  Result<StepMeasurement> on_thread_pool(Inputs inputs) {
    Clock::time_point began = Clock::now();
    auto program = make();
    if (!program) return program.diagnostics();
    figures_.compile_ms = ms_since(began);
    const std::vector<Tensor> read = inputs_of(*program, inputs);
    began = Clock::now();  // making inputs doesn't count as compiling
    auto run = ParallelRun::prepare(std::move(*program), read);
    if (!run) return run.diagnostics();
    figures_.compile_ms += ms_since(began);
    run->read(read);
    return measured(*run, std::move(inputs));
  }

  Result<Program> make() {
    auto program = program_of(scheduled_, {.lower = lower_options()});
    if (program) figures_.planned_peak_bytes = program->arena_bytes;
    return program;
  }

  std::vector<Tensor> inputs_of(const Program& program, const Inputs& inputs) const {
    std::vector<Tensor> read;
    for (const NodeId id : program.inputs)
      read.push_back(as_kernels_read(graph_.type(id), inputs.at(id)));
    return read;
  }

  Result<StepMeasurement> measured(StepRun& run, Inputs inputs) {
    if (!order_.check) inputs.clear();
    if (auto done = measure(run); !done) return done.diagnostics();
    if (!order_.check) return std::move(figures_);
    if (auto done = check(inputs, run.outputs()); !done) return done.diagnostics();
    return std::move(figures_);
  }

  Result<Done> measure(StepRun& run) {
    if (!progress_(StepPhase::measuring, kCompiled, "running")) return error("the run was ended");
    const auto touched = touched_bytes(run, order_.seed);
    if (!touched) return touched.diagnostics();
    figures_.measured_peak_bytes = *touched;
    const double whole = (order_.check ? kRan : 1) - kCompiled;
    const auto tell = [&](int done) {
      return progress_(done == order_.steps ? StepPhase::checking : StepPhase::measuring,
                       kCompiled + whole * done / order_.steps,
                       fmt::format("step {} of {}", done, order_.steps));
    };
    const auto steps = time_steps(run, order_.seed, {order_.steps, kMinStepMs, tell});
    if (!steps) return steps.diagnostics();
    figures_.program = program_digest(run.program());
    figures_.steps = order_.steps;
    figures_.step_ms_median = (*steps)[steps->size() / 2].ms;
    figures_.step_ms_min = steps->front().ms;
    figures_.kernel_ms = kernel_ms(run.program(), mean_launches(*steps));
    figures_.kernel_ms.resize(scheduled_.schedule.kernels.size());
    return Done{};
  }

  Result<Done> check(const Inputs& inputs, const std::vector<Tensor>& found) {
    EvaluateOptions options;
    options.seed = order_.seed;
    options.progress = [&](std::size_t at, std::size_t steps) {
      const double share = static_cast<double>(at) / static_cast<double>(steps);
      return progress_(StepPhase::checking, kRan + (1 - kRan) * share,
                       "interpreting the same, to compare");
    };
    const auto accuracy = judge_outputs(graph_, inputs, options, found);
    if (!accuracy) return accuracy.diagnostics();
    figures_.agreement = OutputAgreement(*accuracy);
    return Done{};
  }

  const ScheduledStep& scheduled_;
  const Graph& graph_;
  const StepRunOptions& order_;
  const StepProgress& progress_;
  StepMeasurement figures_;
};

}  // namespace

std::string PageExecutor::where() const {
  return fmt::format("this page, {} thread{}", pool_size(), pool_size() == 1 ? "" : "s");
}

KernelLibrary PageExecutor::library() const {
  KernelLibrary none;
  none.lower = lower_options();
  return none;
}

Result<PreparedStep> PageExecutor::prepare(Program program, const BindInputs& read) {
  if (pool_size() > 1) {
    std::vector<Tensor> inputs = read(program);
    auto run = ParallelTrainingRun::prepare(std::move(program), std::move(inputs));
    if (!run) return run.diagnostics();
    return PreparedStep{nullptr, std::make_unique<ParallelTrainingRun>(std::move(*run))};
  }
  auto step = Step::compile(std::move(program));
  if (!step) return step.diagnostics();
  auto code = std::make_shared<const Step>(std::move(*step));
  auto run = Run::prepare(*code, read(code->program()));
  if (!run) return run.diagnostics();
  return PreparedStep{code, std::make_unique<Run>(std::move(*run))};
}

Result<StepMeasurement> PageExecutor::run(const ScheduledStep& scheduled,
                                          const StepRunOptions& order,
                                          const StepProgress& progress) {
  auto figures = Session(scheduled, order, progress).run();
  if (figures) figures->where = where();
  return figures;
}

}  // namespace recut::step

#include "native/executors/cpu_executor.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "engine/workspace/compile.h"
#include "native/calibrated_profile.h"
#include "native/cpu/execution.h"

namespace recut::native {
namespace {

constexpr double kCpuCompiled = 0.3;  // progress of the whole run when execution begins

Result<cpu::ReadyStep> compile(const ScheduledStep& scheduled) {
  const auto began = std::chrono::steady_clock::now();
  auto program = program_of(scheduled, {.library = true, .library_takes = cpu::onednn_takes});
  if (!program) return program.diagnostics();
  auto step = cpu::Step::compile(std::move(*program));
  if (!step) return step.diagnostics();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  return cpu::ReadyStep{std::move(*step), cpu::StepOrigin::compiled, took.count()};
}

}  // namespace

CpuExecutor::CpuExecutor(int threads)
    : threads_(threads > 0 ? threads
                           : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))) {}

KernelLibrary CpuExecutor::library() const { return {"oneDNN", cpu::onednn_takes, {}}; }

std::string CpuExecutor::where() const {
  return fmt::format("this machine's processor, {} thread{}", threads_, threads_ == 1 ? "" : "s");
}

std::vector<std::string> CpuExecutor::run_words() const {
  return {"--threads", fmt::format("{}", threads_)};
}

std::string CpuExecutor::device() const { return profile_of_this_machine(); }

Result<PreparedStep> CpuExecutor::prepare(Program program, const BindInputs& read) {
  auto step = cpu::Step::compile(std::move(program));
  if (!step) return step.diagnostics();
  auto code = std::make_shared<const cpu::Step>(std::move(*step));
  auto run = cpu::Run::prepare(*code, read(code->program()), threads_);
  if (!run) return run.diagnostics();
  return PreparedStep{code, std::make_unique<cpu::Run>(std::move(*run))};
}

Result<StepMeasurement> CpuExecutor::run(const ScheduledStep& scheduled,
                                         const StepRunOptions& order,
                                         const StepProgress& progress) {
  cpu::ExecutionRequest request;
  request.tensors = scheduled.document.file.tensors;
  request.seed = order.seed;
  request.steps = order.steps;
  request.check = order.check;
  request.threads = threads_;
  request.after_step = [&](int steps) {
    const double share = static_cast<double>(steps) / static_cast<double>(order.steps);
    const bool last = steps == order.steps;
    return progress(last ? StepPhase::checking : StepPhase::measuring,
                    kCpuCompiled + (1 - kCpuCompiled) * share,
                    fmt::format("step {} of {}", steps, order.steps));
  };
  (void)progress(StepPhase::preparing, 0, kCompilingMessage);
  auto step = compile(scheduled);
  if (!step) return step.diagnostics();
  if (!progress(StepPhase::measuring, kCpuCompiled, "running")) return error("the run was ended");
  auto execution = cpu::execute(scheduled.document, *step, request);
  if (!execution) return execution.diagnostics();
  StepMeasurement figures;
  figures.program = execution->program;
  figures.where = where();
  figures.steps = order.steps;
  figures.compile_ms = execution->compile_ms;
  figures.step_ms_median = execution->step_ms_median;
  figures.step_ms_min = execution->step_ms_min;
  figures.planned_peak_bytes = execution->planned_peak_bytes;
  figures.measured_peak_bytes = execution->measured_peak_bytes;
  figures.scratch_bytes = execution->scratch_bytes;
  figures.packed_bytes = execution->packed_bytes;
  figures.library = library().name;
  figures.kernel_ms = std::move(execution->kernel_ms);
  figures.kernel_ms.resize(scheduled.schedule.kernels.size());
  if (order.check) figures.agreement = OutputAgreement(execution->accuracy);
  return figures;
}

}  // namespace recut::native

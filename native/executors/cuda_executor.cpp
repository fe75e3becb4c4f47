#include "native/executors/cuda_executor.h"

#include <fmt/core.h>

#include <chrono>

#include "engine/workspace/compile.h"
#include "native/calibrated_profile.h"
#include "native/cuda/execution.h"
#include "native/cuda/hosted_run.h"

// The window's executor of CUDA steps. The GPU is opened when the first step needs it, and shared
// by the executors of all precisions (GpuAccess); a failed opening is tried again with the next
// step, and its reason is the executor's remark. A run compiles through the step cache, executes
// with measurement, and reports progress in phases. A training prepares a HostedRun, so that its
// parameters outlive plans.

namespace recut::native {
namespace {

constexpr double kCudaCompiled = 0.3;  // progress of the whole run when execution begins

// Works without a cache where there is no directory for one: that costs time alone.
Result<cuda::ReadyStep> compile_and_keep(const cuda::SharedGpu& gpu, Program program,
                                         cuda::MatmulPrecision matmul_precision) {
  std::optional<cache::Store> store;
  if (auto options = cache::default_store_options()) store.emplace(std::move(*options));
  return cuda::StepCache(std::move(store), gpu, {}, matmul_precision).compile(std::move(program));
}

std::string description_of(cuda::Precision precision) {
  switch (precision) {
    case cuda::Precision::f32:
      break;
    case cuda::Precision::tf32:
      return "Products round their factors to tf32, for tensor cores";
    case cuda::Precision::bf16:
      return "Products round their factors to bf16, convolutions and attention to tf32, for tensor "
             "cores";
  }
  return "Products in f32";
}

void take(StepMeasurement& figures, cuda::Execution execution) {
  figures.program = execution.program;
  figures.compile_ms = execution.compile_ms;
  figures.step_ms_median = execution.step_ms_median;
  figures.step_ms_min = execution.step_ms_min;
  figures.planned_peak_bytes = execution.planned_peak_bytes;
  figures.measured_peak_bytes = execution.measured_peak_bytes;
  figures.scratch_bytes = execution.scratch_bytes;
  figures.taken_bytes = execution.taken_bytes;
  figures.kernel_ms = std::move(execution.kernel_ms);
}

}  // namespace

GpuTools default_gpu_tools() {
  return {[] { return cuda::Gpu::open(); }, compile_and_keep};
}

Result<cuda::SharedGpu> GpuAccess::enter() {
  const std::lock_guard lock(mutex_);
  if (gpu_ == nullptr) {
    auto opened = tools_.open();
    refusal_ = opened ? "" : opened.diagnostics().front().message;
    if (!opened) return opened.diagnostics();
    gpu_ = std::move(*opened);
  }
  if (auto entered = gpu_->enter(); !entered) return entered.diagnostics();
  return gpu_;
}

std::string GpuAccess::name() const {
  const std::lock_guard lock(mutex_);
  return gpu_ == nullptr ? "" : gpu_->name();
}

SmLimits GpuAccess::sm_limits() const {
  const std::lock_guard lock(mutex_);
  return gpu_ == nullptr ? SmLimits{} : gpu_->sm_limits();
}

std::string GpuAccess::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_;
}

std::string CudaExecutor::id() const {
  return precision_ == cuda::Precision::f32 ? "cuda" : fmt::format("cuda-{}", name_of(precision_));
}

// The GPU's name without the maker, once the GPU is open.
std::string CudaExecutor::title() const {
  constexpr std::string_view kMaker = "NVIDIA ";
  std::string name = access_->name();
  if (name.rfind(kMaker, 0) == 0) name.erase(0, kMaker.size());
  if (name.empty()) name = "NVIDIA GPU";
  return precision_ == cuda::Precision::f32 ? name
                                            : fmt::format("{}, {}", name, name_of(precision_));
}

std::string CudaExecutor::remark() const {
  if (std::string refusal = access_->refusal(); !refusal.empty()) return refusal;
  const std::string products = description_of(precision_);
  if (!access_->name().empty()) return products;
  return "The first GPU that CUDA's driver shows, opened when a step is to run on it. " + products;
}

KernelLibrary CudaExecutor::library() const {
  return {"cuBLASLt or cuDNN", cuda::library_takes(precision_),
          cuda::lower_options(access_->sm_limits())};
}

Result<ProgramOptions> CudaExecutor::program_options() {
  const auto gpu = access_->enter();
  if (!gpu) return gpu.diagnostics();
  ProgramOptions options = library().options();
  cuda::CallOptions calls;
  calls.precision = precision_;
  options.library_takes = cuda::library_takes(*gpu, calls);
  return options;
}

std::string CudaExecutor::where() const {
  const std::string name = access_->name();
  return fmt::format("{}, {} products", name.empty() ? "an NVIDIA GPU" : name, name_of(precision_));
}

std::vector<std::string> CudaExecutor::run_words() const {
  return {"--device", "cuda", "--precision", std::string(name_of(precision_))};
}

// The GPU's profile prices products in f32 alone.
std::string CudaExecutor::device() const {
  const std::string name = access_->name();
  return name.empty() || precision_ != cuda::Precision::f32
             ? ""
             : find_profile(profile_name_of_gpu(name));
}

Result<StepMeasurement> CudaExecutor::run(const ScheduledStep& scheduled,
                                          const StepRunOptions& order,
                                          const StepProgress& progress) {
  (void)progress(StepPhase::preparing, 0, kCompilingMessage);
  const auto gpu = access_->enter();
  if (!gpu) return gpu.diagnostics();
  const std::int64_t free = (*gpu)->memory().free;
  const auto options = program_options();
  if (!options) return options.diagnostics();
  auto program = program_of(scheduled, *options);
  if (!program) return program.diagnostics();
  auto step = access_->compile(*gpu, std::move(*program), precision_);
  if (!step) return step.diagnostics();
  step->step.count_from(free);
  if (!progress(StepPhase::measuring, kCudaCompiled, "running")) return error("the run was ended");
  cuda::ExecutionRequest request;
  request.tensors = scheduled.document.file.tensors;
  request.seed = order.seed;
  request.steps = order.steps;
  request.check = order.check;
  request.calls.precision = precision_;
  request.after_step = [&](int steps) {
    const double share = static_cast<double>(steps) / static_cast<double>(order.steps);
    const bool last = steps == order.steps;
    return progress(last ? StepPhase::checking : StepPhase::measuring,
                    kCudaCompiled + (1 - kCudaCompiled) * share,
                    fmt::format("step {} of {}", steps, order.steps));
  };
  auto execution = cuda::execute(scheduled.document, *step, request);
  if (!execution) return execution.diagnostics();
  StepMeasurement figures;
  figures.where = where();
  figures.library = library().name;
  figures.steps = order.steps;
  if (order.check) figures.agreement = OutputAgreement(execution->accuracy);
  take(figures, std::move(*execution));
  figures.kernel_ms.resize(scheduled.schedule.kernels.size());
  return figures;
}

Result<PreparedStep> CudaExecutor::prepare(Program program, const BindInputs& read) {
  const auto gpu = access_->enter();
  if (!gpu) return gpu.diagnostics();
  auto ready = access_->compile(*gpu, std::move(program), precision_);
  if (!ready) return ready.diagnostics();
  auto code = std::make_shared<const cuda::Step>(std::move(ready->step));
  cuda::CallOptions options;
  options.precision = precision_;
  auto run = cuda::HostedRun::prepare(*code, read(code->program()), options);
  if (!run) return run.diagnostics();
  return PreparedStep{code, std::move(*run)};
}

}  // namespace recut::native

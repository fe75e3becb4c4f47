// recut run --device cuda: a planned step on an NVIDIA GPU, measured beside its plan.
#include <fmt/core.h>

#include "engine/ir/graph_signature.h"
#include "engine/support/units.h"
#include "engine/workspace/scheduling.h"
#include "native/commands/command.h"
#include "native/commands/gpu_options.h"
#include "native/commands/run_arguments.h"
#include "native/commands/run_report.h"
#include "native/cuda/execution.h"
#include "native/executors/gpu_plan.h"

namespace recut::native {
namespace {

class CudaRun {
 public:
  CudaRun(const RunCommand& command, const Console& console, cuda::SharedGpu gpu)
      : command_(command), console_(console), gpu_(std::move(gpu)) {}

  int run() {
    const auto max_bytes = max_workspace(command_.workspace);
    if (!max_bytes) return console_.report_error(max_bytes.diagnostics());
    max_workspace_ = *max_bytes;
    const auto planned = plan();
    if (!planned) return console_.report_error(planned.diagnostics());
    const Document& document = planned->document;
    const ScheduledPlan& scheduled = planned->scheduled;
    if (!planned->note.empty()) console_.err << "note: " << planned->note << "\n";
    if (const auto& known = planned->known)
      ceilings_ = {known->name, known->title, known->peaks, known->source};
    if (!scheduled.holds()) return refuse_arena(document, scheduled, command_.json, console_);
    const auto step = compile(document, scheduled);
    if (!step) return console_.report_error(step.diagnostics());
    return execute(document, *step);
  }

 private:
  cuda::Precision precision() const { return cuda::parse_precision(command_.precision); }

  // The libraries that were asked are closed again before the step runs.
  Result<cuda::ReadyStep> compile(const Document& document, const ScheduledPlan& scheduled) const {
    console_.say("compiling");
    cuda::StepCache steps(
        default_store(command_, console_), gpu_,
        {.library = !command_.no_library,
         .library_takes = cuda::library_takes(gpu_, {precision(), max_workspace_}),
         .lower = cuda::lower_options(gpu_->sm_limits())},
        cuda::matmul_precision_of(precision()));
    auto step = steps.compile(document, scheduled);
    console_.say("");
    for (const std::string& note : steps.notes()) console_.err << "note: " << note << "\n";
    return step;
  }

  Result<GpuPlan> plan() const {
    GpuPlanRequest request;
    request.gpu = gpu_->name();
    request.precision = precision();
    request.library = !command_.no_library;
    request.max_workspace_bytes = max_workspace_;
    request.profile = command_.plan.device;
    request.planning = command_.plan.request();
    request.open = [&](const std::optional<Device>& device, std::string_view skip) {
      return command_.graph.for_gpu(device, skip).open(console_);
    };
    request.progress = [&](std::string_view phase) { console_.say(std::string(phase)); };
    return plan_for_gpu(request);
  }

  int execute(const Document& document, const cuda::ReadyStep& step) const {
    const GraphSignature* signature = document.graph().signature.get();
    if (command_.nondeterministic && signature != nullptr && signature->deterministic)
      return console_.report_error(
          {error("--nondeterministic: the graph was traced under "
                 "torch.use_deterministic_algorithms, which its signature keeps: leave it out")});
    const auto tensors = read_tensors(command_.tensors, document.file);
    if (!tensors) return console_.report_error(tensors.diagnostics());
    cuda::ExecutionRequest request;
    request.tensors = (*tensors)->tensors;
    request.seed = command_.seed;
    request.steps = command_.steps;
    request.check = command_.check;
    request.keep_outputs = !command_.out_tensors.empty();
    request.calls = {precision(), max_workspace_, command_.nondeterministic};
    if (ceilings_) request.ceilings = ceilings_->peaks;
    request.progress = [&](std::string_view what) { console_.say(what); };
    const auto execution = cuda::execute(document, step, request);
    console_.say("");
    if (const cuda::AlgorithmCache* cache = step.step.algorithm_cache())
      for (const std::string& note : cache->notes()) console_.err << "note: " << note << "\n";
    if (!execution) return console_.report_error(execution.diagnostics());
    if (const auto written = write_outputs(command_, document.graph(), execution->values); !written)
      return console_.report_error(written.diagnostics());
    const RunReport report = report_of(*execution, step.step.program().budget_bytes);
    console_.out << (command_.json ? as_json(report) : as_text(report));
    if (execution->holds() && (!command_.check || execution->agrees())) return kDone;
    leave_debug(command_, document, command_.plan.request(), command_.plan.device, device_words(),
                (*tensors)->tensors, finding_text(*execution), console_);
    return kCheckFailed;
  }

  std::vector<std::string> device_words() const {
    std::vector<std::string> words = {"--device", "cuda", "--precision", command_.precision};
    if (!command_.workspace.empty()) words.insert(words.end(), {"--workspace", command_.workspace});
    if (command_.nondeterministic) words.emplace_back("--nondeterministic");
    return words;
  }

  RunReport report_of(const cuda::Execution& e, std::int64_t budget_bytes) const {
    const std::string graph = e.not_recorded.empty()
                                  ? "one graph of all launches"
                                  : "launched kernel by kernel: " + e.not_recorded;
    return {
        e,
        e.origin,
        command_.steps,
        command_.check,
        ceilings_,
        gpu_->name(),
        "cuBLASLt and cuDNN",
        fmt::format("libraries may take {} bytes beside the arena\n"
                    "GPU {} bytes taken of {} free before, {} in all: the step with its "
                    "inputs, code and libraries\n{}, {} products{}\n",
                    format_count(e.scratch_limit_bytes), format_count(e.taken_bytes),
                    format_count(e.gpu.free), format_count(e.gpu.total), graph, command_.precision,
                    precision() == cuda::Precision::bf16 ? ", tf32 convolutions" : ""),
        {{"card", gpu_->name()},
         {"capability", gpu_->capability()},
         {"driver", gpu_->driver_version()},
         {"precision", command_.precision},
         {"precision_of_convolutions",
          precision() == cuda::Precision::bf16 ? "tf32" : command_.precision},
         {"recorded", e.not_recorded.empty()},
         {"budget_bytes", budget_bytes},
         {"scratch_limit_bytes", e.scratch_limit_bytes},
         {"card_bytes_taken", e.taken_bytes},
         {"card_bytes_free_before", e.gpu.free},
         {"card_bytes", e.gpu.total}},
        "no profile is of this GPU: recut calibrate --device cuda measures one, by which it is "
        "planned, too\n"};
  }

  const RunCommand& command_;
  const Console& console_;
  cuda::SharedGpu gpu_;
  std::int64_t max_workspace_ = 0;
  std::optional<Ceilings> ceilings_;
};

}  // namespace

int run_on_gpu(const RunCommand& command, const Console& console, cuda::SharedGpu gpu) {
  return CudaRun(command, console, std::move(gpu)).run();
}

int run_on_cuda(const RunCommand& command, const Console& console) {
  auto gpu = cuda::Gpu::open();
  if (!gpu) return console.report_error(gpu.diagnostics());
  return run_on_gpu(command, console, std::move(*gpu));
}

}  // namespace recut::native

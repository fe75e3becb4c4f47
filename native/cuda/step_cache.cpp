#include "native/cuda/step_cache.h"

#include <fmt/core.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/support/clock.h"
#include "engine/workspace/compile.h"
#include "native/cuda/nvrtc.h"

namespace recut::cuda {
namespace {

constexpr std::string_view kKernels = "kernels";

std::string target_of(const Gpu& gpu) {
  return fmt::format("sm_{}, driver {}", gpu.capability(), gpu.driver_version());
}

}  // namespace

StepCache::StepCache(std::optional<cache::Store> store, SharedGpu gpu,
                     const ProgramOptions& options, MatmulPrecision matmul_precision)
    : store_(std::move(store)),
      gpu_(std::move(gpu)),
      options_(options),
      matmul_precision_(matmul_precision) {
  if (store_.exists()) algorithm_cache_ = std::make_shared<AlgorithmCache>(*store_.store(), *gpu_);
}

Result<StepCache::Code> StepCache::code_of(const std::string& text) {
  const std::string target = target_of(*gpu_);
  const cache::Digest key = cache::digest_of({"cubin", store_.build(), target, text});
  if (auto found = store_.find(kKernels, key)) return Code{std::move(*found), true};
  const auto compiler = Nvrtc::load(gpu_->driver_major());
  if (!compiler) return compiler.diagnostics();
  auto cubin = compiler->compile(text, gpu_->capability());
  if (!cubin) return cubin.diagnostics();
  const nlohmann::ordered_json description = {
      {"kind", "kernels"}, {"device", "cuda"}, {"target", target}, {"bytes", cubin->size()}};
  store_.keep(kKernels, key, *cubin, description.dump(2) + "\n");
  return Code{std::move(*cubin), false};
}

Result<ReadyStep> StepCache::compile(const Document& document, const ScheduledPlan& scheduled) {
  const Clock::time_point began = Clock::now();
  const std::int64_t free = gpu_->memory().free;
  auto program = program_of(document, scheduled, options_);
  if (!program) return program.diagnostics();
  auto ready = compile(std::move(*program));
  if (!ready) return ready;
  ready->ms = ms_since(began);
  ready->step.count_from(free);
  return ready;
}

Result<ReadyStep> StepCache::compile(Program program) {
  const Clock::time_point began = Clock::now();
  Module module = emit_step(program, matmul_precision_);
  auto code = code_of(module.text);
  if (!code) return code.diagnostics();
  auto step = Step::load(gpu_, std::move(program),
                         {std::move(code->cubin), std::move(module.kernels),
                          std::move(module.library), std::move(module.faults)});
  if (!step) return step.diagnostics();
  step->set_algorithm_cache(algorithm_cache_);
  return ReadyStep{std::move(*step),
                   code->found ? cache::StepOrigin::kernels_found : cache::StepOrigin::compiled,
                   ms_since(began)};
}

}  // namespace recut::cuda

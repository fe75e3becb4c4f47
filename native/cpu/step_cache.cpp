#include "native/cpu/step_cache.h"

#include <chrono>
#include <utility>

#include "engine/runtime/kernel_order.h"
#include "engine/support/check.h"
#include "engine/support/clock.h"
#include "engine/workspace/compile.h"
#include "native/cpu/step_description.h"
#include "native/cpu/step_key.h"

namespace recut::cpu {
namespace {

constexpr std::string_view kSteps = "steps", kKernels = "kernels";

}  // namespace

StepCache::StepCache(std::optional<cache::Store> store, const ProgramOptions& options)
    : store_(std::move(store)), options_(options), target_(this_machine()) {}

Result<std::optional<ReadyStep>> StepCache::find(const Document& document,
                                                 const SchedulingRequest& request) {
  using Found = std::optional<ReadyStep>;
  if (!store_.exists()) return Found();
  const Clock::time_point began = Clock::now();
  const auto key = step_key(document, request, options_, target_, store_.build());
  if (!key) return key.diagnostics();
  const auto payload = store_.find(kSteps, *key);
  auto step = payload ? step_of(document.graph(), *payload) : std::nullopt;
  if (!step) return Found();
  auto object = store_.find(kKernels, step->object);
  if (!object) return Found();
  auto loaded = Step::load(std::move(step->program),
                           {std::move(*object), std::move(step->kernels), std::move(step->faults)});
  if (!loaded) return loaded.diagnostics();
  return Found(ReadyStep{std::move(*loaded), StepOrigin::found, ms_since(began)});
}

Result<StepCache::Object> StepCache::object_of(const std::string& text, const cache::Digest& key) {
  if (auto found = store_.find(kKernels, key)) return Object{std::move(*found), true};
  auto compiled = compile_object(text, target_);
  if (!compiled) return compiled.diagnostics();
  store_.keep(kKernels, key, *compiled, describe_object(target_, *compiled));
  return Object{std::move(*compiled), false};
}

Result<ReadyStep> StepCache::compile(const Document& document, const SchedulingRequest& request,
                                     const ScheduledPlan& scheduled) {
  const Clock::time_point began = Clock::now();
  auto program = program_of(document, scheduled, options_);
  if (!program) return program.diagnostics();
  order_kernels(*program);
  llvm_ir::Module module = llvm_ir::emit(strip_names(program->kernels));
  const cache::Digest key = object_key(module.text, target_, store_.build());
  auto object = object_of(module.text, key);
  if (!object) return object.diagnostics();
  const StepCode code{std::move(object->code), std::move(module.kernels), std::move(module.faults)};
  keep_step(document, request, {*program, code.kernels, code.faults, key});
  auto step = Step::load(std::move(*program), code);
  if (!step) return step.diagnostics();
  const StepOrigin origin = object->found ? StepOrigin::kernels_found : StepOrigin::compiled;
  return ReadyStep{std::move(*step), origin, ms_since(began)};
}

void StepCache::keep_step(const Document& document, const SchedulingRequest& request,
                          const KeptStep& step) {
  if (!store_.exists()) return;
  const auto key = step_key(document, request, options_, target_, store_.build());
  RECUT_CHECK(key.ok(), "what was planned has a device");
  store_.keep(kSteps, *key, bytes_of(document.graph(), step),
              describe_step(document, request, step.program, target_));
}

}  // namespace recut::cpu

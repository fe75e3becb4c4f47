// Steps for a GPU: compiled by NVRTC, or loaded from the cache directory (native/cache/store.h),
// which plans of one graph may share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/workspace/scheduling.h"
#include "native/cache/step_origin.h"
#include "native/cache/tolerant_store.h"
#include "native/cuda/step.h"

namespace recut::cuda {

// A step that can run, and its origin.
struct ReadyStep {
  Step step;
  cache::StepOrigin origin = cache::StepOrigin::compiled;
  double ms = 0;  // from a schedule to code on the GPU
};

class StepCache {
 public:
  // Without a store nothing is found and nothing kept. `options`: of all its steps' programs.
  // `matmul_precision`: of attention in f32.
  StepCache(std::optional<cache::Store> store, SharedGpu gpu, const ProgramOptions& options,
            MatmulPrecision matmul_precision = MatmulPrecision::f32);

  // Fails where an operator has no lowering (the message names all), where NVRTC is missing, and
  // where the GPU doesn't take the code.
  Result<ReadyStep> compile(const Document& document, const ScheduledPlan& scheduled);
  // The same for a program that exists already.
  Result<ReadyStep> compile(Program program);

  // Entries that couldn't be used or kept, and why: they cost time and nothing else.
  const std::vector<std::string>& notes() const { return store_.notes(); }

 private:
  struct Code {
    std::string cubin;
    bool found = false;
  };
  Result<Code> code_of(const std::string& text);

  cache::TolerantStore store_;
  SharedGpu gpu_;
  std::shared_ptr<AlgorithmCache> algorithm_cache_;  // null without a store
  ProgramOptions options_;
  MatmulPrecision matmul_precision_;
};

}  // namespace recut::cuda

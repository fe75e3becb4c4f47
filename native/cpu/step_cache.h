// Steps from the cache directory (native/cache/store.h): whole steps, which need no planning,
// lowering or LLVM, and kernels, which plans of one graph may share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/workspace/scheduling.h"
#include "native/cache/step_origin.h"
#include "native/cache/tolerant_store.h"
#include "native/cpu/object_code.h"
#include "native/cpu/step.h"
#include "native/cpu/step_bytes.h"

namespace recut::cpu {

using cache::StepOrigin;

// A step that can run, and its origin.
struct ReadyStep {
  Step step;
  StepOrigin origin = StepOrigin::compiled;
  double ms = 0;  // from a schedule, or from a cached step's graph, to code
};

class StepCache {
 public:
  // Without a store nothing is found and nothing kept. `options`: of all its steps' programs.
  StepCache(std::optional<cache::Store> store, const ProgramOptions& options);

  // The step of an equal graph and request. None where none is kept, or none that may be used.
  // Fails where the request's device is unknown.
  Result<std::optional<ReadyStep>> find(const Document& document, const SchedulingRequest& request);

  // Compiles the scheduled plan, or takes its kernels from the cache, and keeps the new parts.
  // Fails where an operator has no lowering (the message names all).
  Result<ReadyStep> compile(const Document& document, const SchedulingRequest& request,
                            const ScheduledPlan& scheduled);

  // Entries that couldn't be used or kept, and why: they cost time and nothing else.
  const std::vector<std::string>& notes() const { return store_.notes(); }

 private:
  struct Object {
    std::string code;
    bool found = false;
  };
  Result<Object> object_of(const std::string& text, const cache::Digest& key);
  void keep_step(const Document& document, const SchedulingRequest& request, const KeptStep& step);

  cache::TolerantStore store_;
  ProgramOptions options_;
  Target target_;
};

}  // namespace recut::cpu

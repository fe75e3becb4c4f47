// Steps for a card: compiled by NVRTC, or from code that was compiled before and kept in a
// directory (native/cache/store.h), which plans of one graph may share.
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

// A step that can run, and how it came to be one.
struct ReadyStep {
  Step step;
  cache::StepOrigin origin = cache::StepOrigin::compiled;
  double ms = 0;  // from a schedule to code on the card
};

class StepCache {
 public:
  // Without a store nothing is found and nothing kept. `options`: of all its steps' programs.
  // `factors`: of attention in f32.
  StepCache(std::optional<cache::Store> store, SharedCard card, const ProgramOptions& options,
            Factors factors = Factors::f32);

  // Fails where an operator has no loops (all are named), where NVRTC is missing, and where the
  // card doesn't take the code.
  Result<ReadyStep> compile(const Document& document, const ScheduledPlan& scheduled);
  // The same of a program that is there already.
  Result<ReadyStep> compile(Program program);

  // What couldn't be used or kept, and why: it cost time and nothing else.
  const std::vector<std::string>& notes() const { return store_.notes(); }

 private:
  struct Code {
    std::string cubin;
    bool found = false;
  };
  Result<Code> code_of(const std::string& text);

  cache::TolerantStore store_;
  SharedCard card_;
  std::shared_ptr<KeptWays> ways_;  // null without a store
  ProgramOptions options_;
  Factors factors_;
};

}  // namespace recut::cuda

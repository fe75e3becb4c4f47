// The machine code of all ranks' programs: ranks with the same kernels share the compilation.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/rank_run.h"
#include "native/cpu/step.h"

namespace recut::cpu {

class RankCode {
 public:
  explicit RankCode(int threads) : threads_(threads) {}

  // The run of a rank's program, which this object's life bounds. Fails as Step::compile() and
  // Run::prepare() do.
  Result<std::unique_ptr<RankRun>> prepare(const Program& program, std::vector<Tensor> inputs);

 private:
  const int threads_;
  std::map<std::string, std::string> objects_;  // by LLVM IR
  std::deque<Step> steps_;
};

}  // namespace recut::cpu

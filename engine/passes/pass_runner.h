// The runner as steps, so that a frame may come between two: a pass is one, and so is looking at
// what it left. runner.h has them all in one.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/passes/pass.h"
#include "engine/passes/pipeline_report.h"
#include "engine/support/result.h"

namespace recut {

class PassRunner {
 public:
  PassRunner(const Graph& graph, std::vector<Pass> passes, RunnerOptions options);

  bool step();                                          // true where there is more to do
  PipelineReport take() { return std::move(report_); }  // once there is none

 private:
  std::size_t last() const;  // the number of passes that run
  void check_input();
  void run_pass();
  void check_result();

  std::vector<Pass> passes_;
  RunnerOptions options_;
  PipelineReport report_;
  std::size_t at_ = 0;  // the pass that runs next
  bool begun_ = false;
  struct Unchecked {
    PassResult result;
    double milliseconds = 0;
  };
  std::optional<Unchecked> unchecked_;  // what it left, before anybody looked
};

// The passes of these names, of `more` or of the table; fails where a name is no pass's.
Result<std::vector<Pass>> find_passes(std::span<const std::string> names,
                                      std::span<const Pass> more = {});

}  // namespace recut

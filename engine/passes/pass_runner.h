// The runner in steps, so that the window can draw a frame between two: running a pass is one step,
// verifying its result the next. runner.h runs all of them at once.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/passes/pass.h"
#include "engine/passes/pipeline_report.h"
#include "engine/passes/region_passes.h"
#include "engine/support/result.h"

namespace recut {

class PassRunner {
 public:
  PassRunner(const Graph& graph, std::vector<Pass> passes, RunnerOptions options);

  bool step();                                          // true if steps remain
  PipelineReport take() { return std::move(report_); }  // after the last step

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
    std::vector<RegionPass> nested;
    std::shared_ptr<const Regions> regions;  // null where none changed
    double milliseconds = 0;
  };
  std::optional<Unchecked> unchecked_;  // a result that is not verified yet
};

// The passes of these names, in `more` or in the table. An unknown name is a diagnostic.
Result<std::vector<Pass>> find_passes(std::span<const std::string> names,
                                      std::span<const Pass> more = {});

}  // namespace recut

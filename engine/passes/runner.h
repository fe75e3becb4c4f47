// The pass runner: runs passes in order, verifies each, and reports as plain data.
//
// A pass also runs on nested graphs that stay (region_passes.h). After each pass the runner verifies
// the graph (engine/ir/verifier.h) and the pass's `changed`. Graphs are snapshots on a shared pool,
// so that the report can keep the graph after every pass.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/passes/pass.h"
#include "engine/passes/pipeline_report.h"
#include "engine/support/result.h"

namespace recut {

// Fails if a name, to run or to skip, is unknown.
Result<PipelineReport> run_passes(const Graph& graph, std::span<const std::string> names,
                                  const RunnerOptions& options = {});

// The same for given passes, which need not be in the table.
PipelineReport run_passes(const Graph& graph, std::span<const Pass> passes,
                          const RunnerOptions& options = {});

// The names of the passes that run by default.
std::vector<std::string> default_passes();

// Splits "noop_removal,dead_code" into names; blanks around names are ignored.
std::vector<std::string> split_pass_names(std::string_view list);

}  // namespace recut

// The runner: runs passes in order, holds each to its promises, and reports as plain data.
//
// After each pass it verifies the graph (engine/ir/verifier.h) and checks that `changed` tells the
// truth. Graphs are snapshots on a shared pool, so that the report keeps every stage.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/passes/pass.h"
#include "engine/passes/pipeline_report.h"
#include "engine/support/result.h"

namespace recut {

// Fails where a name, of the list or to be skipped, is no pass's.
Result<PipelineReport> run_passes(const Graph& graph, std::span<const std::string> names,
                                  const RunnerOptions& options = {});

// The same with passes of the caller's own, which need not stand in the table.
PipelineReport run_passes(const Graph& graph, std::span<const Pass> passes,
                          const RunnerOptions& options = {});

// The names of those of all_passes() that run by default.
std::vector<std::string> default_passes();

// "noop_removal,dead_code" to names; blanks around names are ignored.
std::vector<std::string> split_pass_names(std::string_view list);

}  // namespace recut

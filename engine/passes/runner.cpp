#include "engine/passes/runner.h"

#include <algorithm>

#include "engine/passes/pass_runner.h"
#include "engine/passes/pass_table.h"

namespace recut {

Result<PipelineReport> run_passes(const Graph& graph, std::span<const std::string> names,
                                  const RunnerOptions& options) {
  const auto skipped = find_passes(options.skip, options.more);
  if (!skipped) return skipped.diagnostics();
  const auto passes = find_passes(names, options.more);
  if (!passes) return passes.diagnostics();
  return run_passes(graph, std::span<const Pass>(*passes), options);
}

PipelineReport run_passes(const Graph& graph, std::span<const Pass> passes,
                          const RunnerOptions& options) {
  PassRunner runner(graph, {passes.begin(), passes.end()}, options);
  while (runner.step()) {
  }
  return runner.take();
}

std::vector<std::string> default_passes() {
  std::vector<std::string> names;
  for (const Pass& pass : all_passes())
    if (pass.by_default) names.emplace_back(pass.name);
  return names;
}

std::vector<std::string> split_pass_names(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view name = list.substr(0, comma);
    const std::size_t first = std::min(name.find_first_not_of(' '), name.size());
    name.remove_prefix(first);
    name = name.substr(0, name.find_last_not_of(' ') + 1);
    if (!name.empty()) names.emplace_back(current_pass_name(name));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

}  // namespace recut

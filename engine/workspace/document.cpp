#include "engine/workspace/document.h"

#include <fmt/core.h>

#include "engine/ir/data_flow.h"
#include "engine/passes/region_inlining.h"
#include "engine/support/check.h"

namespace recut {

const Graph& Document::reference_graph() const {
  constexpr std::string_view kRegionPasses[] = {"expand_flex_attention", "inline_regions"};
  std::size_t first = (differentiated ? 1 : 0) + (loss ? 1 : 0);
  const Graph* reference = first == 0 ? &passes.input : &passes.passes[first - 1].graph;
  for (const std::string_view name : kRegionPasses) {
    if (first == passes.passes.size() || passes.passes[first].name != name) continue;
    const PassReport& pass = passes.passes[first++];
    if (pass.changed) reference = &pass.graph;
  }
  return *reference;
}

const std::vector<NamedTensor>& Document::reference_tensors() const {
  return frozen ? tensors_as_read : file.tensors;
}

std::vector<std::string> Document::notes() const {
  int both = 0;
  const auto count_in = [&](const std::vector<Change>& changes) {
    for (const auto& [rule, count] : rule_hits(changes))
      if (rule == kBothBranches) both += count;
  };
  for (const PassReport& pass : passes.passes) {
    count_in(pass.changes);
    for (const RegionReport& region : pass.regions) count_in(region.changes);
  }
  if (both == 0) return {};
  return {fmt::format("both branches are computed, and their results selected: {} {}", both,
                      both == 1 ? "condition" : "conditions")};
}

std::vector<StageRun> stages_for(const GraphFile& file, const std::vector<Stage>& stages,
                                 bool freeze) {
  Pipeline pipeline{stages.empty() ? std::vector{Stage::joint} : stages, {}, {}, false};
  if (freeze) pipeline.stages = with_freezing(std::move(pipeline.stages));
  RunnerOptions options;
  auto runs = stage_runs(pipeline, options);
  RECUT_CHECK(runs.ok(), "stages alone have no custom pass that could be wrong");
  if (stages.empty() && file.after_joint_passes) runs->front().names.clear();
  return std::move(*runs);
}

std::vector<std::string> stage_passes_for(const GraphFile& file, const std::vector<Stage>& stages,
                                          bool freeze) {
  std::vector<std::string> names;
  for (const StageRun& run : stages_for(file, stages, freeze))
    names.insert(names.end(), run.names.begin(), run.names.end());
  return names;
}

Result<Done> check_joint(const Document& document, std::string_view file_name) {
  if (is_joint(document.graph())) return Done{};
  return Diagnostic{"a forward graph, which is no training step; `recut grad` makes a joint graph",
                    std::string(file_name), 0, 0};
}

}  // namespace recut

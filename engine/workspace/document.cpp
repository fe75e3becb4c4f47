#include "engine/workspace/document.h"

#include <fmt/core.h>

#include "engine/ir/data_flow.h"
#include "engine/passes/region_inlining.h"

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

std::vector<std::string> default_passes_for(const GraphFile& file) {
  return file.after_joint_passes ? std::vector<std::string>() : default_passes();
}

Result<Done> check_joint(const Document& document, std::string_view file_name) {
  if (is_joint(document.graph())) return Done{};
  return Diagnostic{"a forward graph, which is no training step; `recut grad` makes a joint graph",
                    std::string(file_name), 0, 0};
}

}  // namespace recut

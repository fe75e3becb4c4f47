#include "engine/passes/region_passes.h"

#include <algorithm>
#include <string_view>

#include "engine/ir/copy.h"
#include "engine/ir/flex_attention.h"
#include "engine/ir/region_call.h"
#include "engine/ir/region_memory.h"

namespace recut {
namespace {

std::vector<std::string_view> regions_for_passes(const Graph& graph) {
  std::vector<std::string_view> names;
  for (const NodeId id : graph.order()) {
    if (!is_external(graph[id].op) || flex_attention(graph[id])) continue;
    for (const std::string_view name : named_regions(graph, id))
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::shared_ptr<const Regions> run_below(const Pass& pass, const Graph& graph,
                                         const std::string& path, std::vector<RegionPass>& runs) {
  if (graph.regions == nullptr) return nullptr;
  std::shared_ptr<Regions> changed;
  for (const std::string_view name : regions_for_passes(graph)) {
    // Graphs share a region, whose pool may belong to another thread.
    RegionPass run;
    run.region = path + std::string(name);
    run.before = deep_copy(*graph.region(name));
    run.result = pass.run(run.before);
    const Graph after = run.result.graph;
    const bool differs = run.result.changed;
    const std::string inside = run.region + "/";
    runs.push_back(std::move(run));
    const auto inner = run_below(pass, after, inside, runs);
    if (!differs && inner == nullptr) continue;
    if (changed == nullptr) changed = std::make_shared<Regions>(*graph.regions);
    (*changed)[std::string(name)] =
        std::make_shared<const Graph>(inner == nullptr ? after : with_regions(after, inner));
  }
  return changed;
}

}  // namespace

std::shared_ptr<const Regions> run_in_regions(const Pass& pass, const Graph& graph,
                                              std::vector<RegionPass>& runs) {
  return run_below(pass, graph, "", runs);
}

Graph with_regions(const Graph& graph, std::shared_ptr<const Regions> regions) {
  Graph to = graph;
  to.regions = std::move(regions);
  auto measured = std::make_shared<Measurements>();
  if (graph.measured != nullptr) {
    measured->device = graph.measured->device;
    measured->granularity = graph.measured->granularity;
  }
  for (const NodeId id : graph.order()) {
    const Measurement* known = graph.measurement(id);
    Measurement now = known == nullptr ? Measurement() : *known;
    if (is_external(graph[id].op))
      now.workspace_bytes = std::max<std::int64_t>(
          0, now.workspace_bytes + region_bytes(to, id) - region_bytes(graph, id));
    if (now.micros || now.workspace_bytes > 0) measured->add(id, now);
  }
  if (measured->any()) to.measured = std::move(measured);
  return to;
}

}  // namespace recut

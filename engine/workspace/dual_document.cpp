#include "engine/workspace/dual_document.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "engine/autodiff/dual_numbers.h"
#include "engine/ir/dual_call.h"
#include "engine/ir/printer.h"
#include "engine/passes/region_inlining.h"
#include "engine/support/text.h"

namespace recut {
namespace {

bool has_dual_calls(const Graph& graph) {
  return std::any_of(graph.order().begin(), graph.order().end(),
                     [&](NodeId id) { return is_dual_call(graph[id]); });
}

bool has_nested_dual_calls(const Graph& graph) {
  return graph.regions != nullptr &&
         std::any_of(graph.regions->begin(), graph.regions->end(), [](const auto& region) {
           return has_dual_calls(*region.second) || has_nested_dual_calls(*region.second);
         });
}

void add_nested_faults(const Graph& graph, Diagnostics& faults) {
  if (graph.regions == nullptr) return;
  for (const auto& [name, region] : *graph.regions) {
    for (const NodeId id : region->order())
      if (is_dual_call((*region)[id]))
        faults.push_back(error(
            fmt::format("nested graph {}: found {}, expected no dual numbers in nested graphs: "
                        "make and unpack them in the graph that calls it",
                        quote(name), print_node(*region, id))));
    add_nested_faults(*region, faults);
  }
}

Result<Done> expand_own(GraphFile& file) {
  Diagnostics faults;
  add_nested_faults(file.graph, faults);
  if (!faults.empty()) return faults;
  if (!has_dual_calls(file.graph)) return Done{};
  auto graph = expand_dual_numbers(without_region_calls(file.graph));
  if (!graph) return graph.diagnostics();
  file.graph = std::move(*graph);
  file.unknown_note = unknown_operators_note(file.graph);
  return Done{};
}

}  // namespace

Result<Done> expand_dual_numbers(GraphFile& file, std::string_view file_name) {
  if (auto done = expand_own(file); !done) {
    Diagnostics faults = done.diagnostics();
    for (Diagnostic& fault : faults) fault.file = std::string(file_name);
    return faults;
  }
  if (file.partitioned == nullptr) return Done{};
  const Graph& of_torch = file.partitioned->graph;
  if (!has_dual_calls(of_torch) && !has_nested_dual_calls(of_torch)) return Done{};
  GraphFile partitioned = *file.partitioned;
  if (auto done = expand_dual_numbers(partitioned, file_name); !done) return done;
  file.partitioned = std::make_shared<const GraphFile>(std::move(partitioned));
  return Done{};
}

}  // namespace recut

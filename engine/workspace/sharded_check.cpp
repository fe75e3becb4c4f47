#include "engine/workspace/sharded_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/eval/double_graph.h"
#include "engine/eval/inputs.h"
#include "engine/mesh/spmd/spmd_evaluation.h"
#include "engine/support/table.h"
#include "engine/support/text.h"
#include "engine/support/units.h"
#include "engine/workspace/json_text.h"

namespace recut {
namespace {

// The relative error that values of 16 and 8 bits allow: sums of parts are rounded in another order.
double allowed_error(const Graph& graph) {
  double allowed = 0;
  for (const NodeId id : graph.order())
    for (const TensorType& type : graph[id].outputs)
      if (type.exists() && is_floating(type.dtype) && item_bytes(type.dtype) < 4)
        allowed = std::max(allowed, item_bytes(type.dtype) == 2 ? 0.05 : 0.5);
  return allowed;
}

}  // namespace

Result<ShardedCheck> check_sharded(const Graph& graph, const MeshRequest& request,
                                   std::span<const NamedTensor> tensors,
                                   std::optional<std::uint64_t> seed) {
  const auto own = inputs_from(graph, tensors, seed);
  if (!own) return own.diagnostics();
  const DoubleGraph in_f64(graph);
  const Inputs inputs = in_f64.inputs(*own);
  const auto own_module = place_on_mesh(graph, request);
  if (!own_module) return own_module.diagnostics();
  const mesh::DistributedModule module = own_module->placed_like(in_f64.graph());
  const auto sharded = mesh::shard(module);
  if (!sharded) return sharded.diagnostics();
  EvaluateOptions options;
  options.seed = seed.value_or(0);
  auto whole = evaluate(in_f64.graph(), inputs, options);
  if (!whole) return whole.diagnostics();
  const auto ranks = mesh::evaluate_spmd(module, *sharded, inputs, options);
  if (!ranks) return ranks.diagnostics();
  mesh::Traffic traffic(module.mesh().size());
  std::vector<Tensor> gathered(whole->outputs.size());
  std::vector<std::optional<Tensor>> expected(whole->outputs.size());
  for (std::size_t i = 0; i < gathered.size(); ++i) {
    if (!ranks->outputs[i]) continue;
    auto full = mesh::full_tensor(*ranks->outputs[i], traffic);
    if (!full) return full.diagnostics();
    gathered[i] = std::move(*full);
    expected[i] = std::move(whole->outputs[i]);
  }
  return ShardedCheck{
      module.mesh().size(), ranks->peak_bytes,
      compare_outputs(in_f64.graph(), inputs, gathered, expected, allowed_error(graph))};
}

std::string sharded_check_text(const ShardedCheck& check) {
  Table table;
  for (const char* title : {"output", ""}) table.column(title);
  table.column("elements", Table::Align::right);
  table.column("relative error", Table::Align::right);
  table.column("");
  for (const OutputComparison& output : check.outputs)
    table.row({printable(output.name), output.gradient ? "gradient" : "result",
               format_count(output.comparison.elements),
               fmt::format("{:.1e}", output.comparison.relative_error),
               output.comparison.ok ? "agrees" : "DIFFERS: " + output.comparison.problem});
  return fmt::format("{}\n{} ranks {} the whole graph\n", table.format(), check.ranks,
                     check.ok() ? "agree with" : "DIFFER from");
}

std::string sharded_check_json(const ShardedCheck& check) {
  nlohmann::ordered_json json{{"ok", check.ok()},
                              {"ranks", check.ranks},
                              {"peak_bytes", check.peak_bytes},
                              {"outputs", nlohmann::ordered_json::array()}};
  for (const OutputComparison& output : check.outputs)
    json["outputs"].push_back({{"name", output.name},
                               {"gradient", output.gradient},
                               {"ok", output.ok()},
                               {"relative_error", output.comparison.relative_error}});
  return json_text(json);
}

}  // namespace recut

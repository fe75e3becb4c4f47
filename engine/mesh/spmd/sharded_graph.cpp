#include "engine/mesh/spmd/sharded_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/mesh/rules/sharding_rule.h"
#include "engine/mesh/sharding_text.h"
#include "engine/support/text.h"

namespace recut::mesh {
namespace {

class GraphSharder {
 public:
  explicit GraphSharder(const DistributedModule& module)
      : module_(module), graph_(module.graph()), mesh_(module.mesh()) {}

  Result<ShardedGraph> run() {
    for (const NodeId id : module_.inputs())
      if (const auto placed = place_input(id); !placed) return placed.diagnostics();
    if (const auto done = place_calls(); !done) return done.diagnostics();
    find_outputs();
    for (const NodeId id : graph_.order()) {
      if (const auto done = change_operands(id); !done) return done.diagnostics();
      if (const auto done = change_outputs(id); !done) return done.diagnostics();
    }
    return std::move(out_);
  }

 private:
  Result<Done> place_input(NodeId id) {
    const Sharding& sharding = module_.of_input(id);
    AxisPlacements placements;
    for (const ListedPlacement& listed : placements_of(sharding, mesh_)) {
      if (listed.split_factor != 1)
        return error(
            fmt::format("{} is cut in another order of axes than the mesh's ({}): calls "
                        "are placed axis by axis, expected the mesh's order",
                        quote(graph_.node_name(id)), format(sharding, mesh_)));
      placements.push_back(listed.placement);
    }
    inputs_.emplace(id, std::move(placements));
    return Done{};
  }

  Result<Done> place_calls() {
    std::vector<std::int64_t> sizes;
    for (const MeshAxis& axis : mesh_.axes()) sizes.push_back(axis.size);
    const auto placements = propagate(graph_, sizes, inputs_);
    if (!placements) return placements.diagnostics();
    for (const auto& [id, placed] : placements->nodes) {
      CallShardings& call = out_.calls[id];
      call.factors = placed.factors;
      const std::vector<NodeId> operands = operand_nodes(graph_[id].arguments);
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const ValueKey value = operand_value(graph_, id, operands[i]);
        auto sharding = sharding_of(type_of(value).rank(), placed.operands[i]);
        if (!sharding) return sharding.diagnostics();
        call.operands.push_back(std::move(*sharding));
      }
      for (std::size_t r = 0; r < placed.results.size(); ++r) {
        auto sharding = sharding_of(graph_[id].outputs[r].rank(), placed.results[r]);
        if (!sharding) return sharding.diagnostics();
        call.results.push_back(std::move(*sharding));
      }
    }
    return Done{};
  }

  Result<Sharding> sharding_of(std::int64_t rank, const AxisPlacements& placements) const {
    std::vector<ListedPlacement> list;
    for (const Placement& placement : placements) list.push_back({placement, 1});
    return sharding_from(list, mesh_, rank);
  }

  const TensorType& type_of(const ValueKey& value) const {
    return graph_[value.first].outputs[value.second];
  }

  void find_outputs() {
    out_.results = module_.of_results();
    for (std::size_t i = 0; i < graph_.results.size(); ++i)
      if (graph_.results[i].valid()) outputs_[graph_.results[i]].push_back(out_.results[i]);
    std::size_t at = 0;
    for (const NodeId input : graph_.inputs()) {
      if (graph_.input_kind(input) == InputKind::tangent) continue;
      out_.gradients.push_back(gradient_sharding(module_.of_input(input)));
      const NodeId gradient = at < graph_.gradients.size() ? graph_.gradients[at] : NodeId();
      ++at;
      if (gradient.valid()) outputs_[gradient].push_back(out_.gradients.back());
    }
  }

  Result<Done> change_operands(NodeId id) {
    const std::vector<NodeId> operands = operand_nodes(graph_[id].arguments);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const ValueKey value = operand_value(graph_, id, operands[i]);
      if (const auto done = change(value, out_.calls.at(id).operands[i], out_.before, id); !done)
        return done;
    }
    return Done{};
  }

  Result<Done> change_outputs(NodeId id) {
    const auto found = outputs_.find(id);
    if (found == outputs_.end()) return Done{};
    for (const Sharding& to : found->second)
      if (const auto done = change({id, 0}, to, out_.after, id); !done) return done;
    return Done{};
  }

  Result<Done> change(const ValueKey& value, const Sharding& to,
                      std::map<NodeId, std::vector<ShardingChange>>& changes, NodeId call) {
    std::vector<Sharding>& forms = forms_[value];
    if (forms.empty()) forms.push_back(out_.calls.at(value.first).results[value.second]);
    if (std::find(forms.begin(), forms.end(), to) != forms.end()) return Done{};
    std::optional<RedistributionPlan> least;
    for (const Sharding& form : forms) {
      auto plan = plan_redistribution(type_of(value), mesh_, form, to);
      if (!plan) return plan.diagnostics();
      if (!least || plan->bytes() < least->bytes()) least = std::move(*plan);
    }
    changes[call].push_back({value, std::move(*least)});
    forms.push_back(to);
    return Done{};
  }

  const DistributedModule& module_;
  const Graph& graph_;
  const DeviceMesh& mesh_;
  std::map<NodeId, AxisPlacements> inputs_;
  std::map<NodeId, std::vector<Sharding>> outputs_;  // that a result or gradient needs
  std::map<ValueKey, std::vector<Sharding>> forms_;
  ShardedGraph out_;
};

}  // namespace

Result<Done> check_whole(const Graph& graph) {
  for (const NodeId id : graph.order())
    if (graph.op(id).is(kCollective))
      return error(
          fmt::format("the graph has the collective {} and is one rank's part already, "
                      "expected the graph of the whole model",
                      quote(graph.node_name(id))));
  return Done{};
}

Result<ShardedGraph> shard(const DistributedModule& module) {
  if (const auto whole = check_whole(module.graph()); !whole) return whole.diagnostics();
  return GraphSharder(module).run();
}

}  // namespace recut::mesh

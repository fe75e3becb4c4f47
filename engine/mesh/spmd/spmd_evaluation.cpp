#include "engine/mesh/spmd/spmd_evaluation.h"

#include <utility>

#include "engine/mesh/lockstep.h"
#include "engine/mesh/spmd/spmd_graph.h"

namespace recut::mesh {
namespace {

std::vector<NodeId> outputs_of(const Graph& graph) {
  std::vector<NodeId> outputs = graph.results;
  outputs.insert(outputs.end(), graph.gradients.begin(), graph.gradients.end());
  return outputs;
}

}  // namespace

Inputs inputs_of_rank(const Graph& whole, const Graph& rank,
                      const std::map<NodeId, DistributedTensor>& values, std::int64_t position) {
  Inputs inputs;
  for (const auto& [id, tensor] : values)
    inputs[rank.find(whole.node_name(id))] = tensor.locals[static_cast<std::size_t>(position)];
  return inputs;
}

std::vector<std::optional<DistributedTensor>> joined_outputs(
    const DistributedModule& module, const ShardedGraph& sharded,
    std::span<const std::vector<Tensor>> ranks) {
  const DeviceMesh& mesh = module.mesh();
  std::vector<Sharding> shardings = sharded.results;
  shardings.insert(shardings.end(), sharded.gradients.begin(), sharded.gradients.end());
  const std::vector<NodeId> outputs = outputs_of(module.graph());
  std::vector<std::optional<DistributedTensor>> joined(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].valid()) continue;
    std::vector<Tensor> locals;
    for (const std::int64_t rank : mesh.ranks())
      locals.push_back(ranks[static_cast<std::size_t>(rank)][i]);
    joined[i] =
        DistributedTensor{mesh, module.graph().type(outputs[i]), shardings[i], std::move(locals)};
  }
  return joined;
}

Result<SpmdEvaluation> evaluate_spmd(const DistributedModule& module, const ShardedGraph& sharded,
                                     const Inputs& inputs, const EvaluateOptions& options) {
  const Graph& whole = module.graph();
  const DeviceMesh& mesh = module.mesh();
  Traffic traffic(mesh.size());
  const auto values = module.distribute_inputs(inputs, traffic);
  if (!values) return values.diagnostics();
  std::vector<SpmdGraph> graphs;
  for (std::int64_t p = 0; p < mesh.size(); ++p) {
    auto graph = spmd_graph(module, sharded, p);
    if (!graph) return graph.diagnostics();
    graphs.push_back(std::move(*graph));
  }
  std::vector<RankProgram> programs(graphs.size());
  for (std::size_t p = 0; p < graphs.size(); ++p)
    programs[static_cast<std::size_t>(mesh.ranks()[p])] = {
        &graphs[p].graph,
        inputs_of_rank(whole, graphs[p].graph, *values, static_cast<std::int64_t>(p))};
  auto ranks = evaluate_ranks(programs, graphs.front().groups, options);
  if (!ranks) return ranks.diagnostics();
  SpmdEvaluation evaluation;
  for (const std::int64_t rank : mesh.ranks())
    evaluation.peak_bytes.push_back((*ranks)[static_cast<std::size_t>(rank)].peak_bytes);
  std::vector<std::vector<Tensor>> outputs;
  for (Evaluation& rank : *ranks) outputs.push_back(std::move(rank.outputs));
  evaluation.outputs = joined_outputs(module, sharded, outputs);
  return evaluation;
}

}  // namespace recut::mesh

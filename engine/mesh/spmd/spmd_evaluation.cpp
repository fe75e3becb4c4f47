#include "engine/mesh/spmd/spmd_evaluation.h"

#include <utility>

#include "engine/mesh/lockstep.h"
#include "engine/mesh/spmd/spmd_graph.h"

namespace recut::mesh {
namespace {

// The inputs of one rank's graph: the whole graph's by name, and its parts of their values.
Inputs part_of_inputs(const Graph& whole, const Graph& rank,
                      const std::map<NodeId, DistributedTensor>& values, std::size_t position) {
  Inputs inputs;
  for (const auto& [id, tensor] : values)
    inputs[rank.find(whole.node_name(id))] = tensor.locals[position];
  return inputs;
}

std::vector<NodeId> outputs_of(const Graph& graph) {
  std::vector<NodeId> outputs = graph.results;
  outputs.insert(outputs.end(), graph.gradients.begin(), graph.gradients.end());
  return outputs;
}

}  // namespace

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
        &graphs[p].graph, part_of_inputs(whole, graphs[p].graph, *values, p)};
  auto ranks = evaluate_ranks(programs, graphs.front().groups, options);
  if (!ranks) return ranks.diagnostics();
  SpmdEvaluation evaluation;
  for (const std::int64_t rank : mesh.ranks())
    evaluation.peak_bytes.push_back((*ranks)[static_cast<std::size_t>(rank)].peak_bytes);
  std::vector<Sharding> shardings = sharded.results;
  shardings.insert(shardings.end(), sharded.gradients.begin(), sharded.gradients.end());
  const std::vector<NodeId> outputs = outputs_of(whole);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    evaluation.outputs.emplace_back();
    if (!outputs[i].valid()) continue;
    std::vector<Tensor> locals;
    for (const std::int64_t rank : mesh.ranks())
      locals.push_back((*ranks)[static_cast<std::size_t>(rank)].outputs[i]);
    evaluation.outputs.back() =
        DistributedTensor{mesh, whole.type(outputs[i]), shardings[i], std::move(locals)};
  }
  return evaluation;
}

}  // namespace recut::mesh

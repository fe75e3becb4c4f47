// Random meshes and placements of a graph's inputs and results.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/ir/graph.h"
#include "engine/mesh/device_mesh.h"
#include "engine/mesh/sharding_text.h"
#include "tests/random/random_graph.h"

namespace recut::test {

inline std::string random_mesh(Random& random) {
  const std::vector<std::string> meshes = {"a=2",     "a=3",     "a=4",        "a=2,b=2",
                                           "a=3,b=2", "a=1,b=2", "a=2,b=2,c=2"};
  return random.of(meshes);
}

// A placement for each axis; dimensions are cut in the mesh's order.
inline std::string random_placements(Random& random, const mesh::DeviceMesh& mesh,
                                     std::int64_t rank) {
  std::vector<mesh::ListedPlacement> list;
  for (int axis = 0; axis < mesh.ndim(); ++axis)
    list.push_back({rank == 0 || random.one_in(3)
                        ? mesh::Placement::replicate()
                        : mesh::Placement::shard(static_cast<int>(random.below(rank))),
                    1});
  return format(list);
}

// A placement file for most of a graph's inputs and results.
inline std::string random_placement_file(Random& random, const Graph& graph,
                                         const mesh::DeviceMesh& mesh) {
  std::string parameters = "parameters\n", inputs = "inputs\n", outputs = "outputs\n";
  for (const NodeId id : graph.order()) {
    if (!graph.op(id).is(kInput) || random.one_in(4)) continue;
    const bool parameter = !graph.is_input(id) || graph.input_kind(id) == InputKind::parameter;
    (parameter ? parameters : inputs) += fmt::format(
        "  {} {}\n", graph.node_name(id), random_placements(random, mesh, graph.type(id).rank()));
  }
  std::vector<NodeId> placed;
  for (const NodeId id : graph.results) {
    if (!id.valid() || std::find(placed.begin(), placed.end(), id) != placed.end()) continue;
    placed.push_back(id);
    if (random.one_in(2))
      outputs += fmt::format("  {} {}\n", graph.node_name(id),
                             random_placements(random, mesh, graph.type(id).rank()));
  }
  return parameters + inputs + outputs;
}

// Outputs with infinities: parts of a sum that is divided by 0 are no parts of the quotient.
inline std::vector<bool> finite_outputs(const Graph& graph, std::uint64_t seed) {
  const auto inputs = inputs_from(graph, {}, seed);
  REQUIRE(inputs.ok());
  EvaluateOptions options;
  options.seed = seed;
  const auto whole = evaluate(graph, *inputs, options);
  REQUIRE(whole.ok());
  std::vector<bool> finite;
  for (const Tensor& output : whole->outputs) {
    bool all = true;
    if (output.exists() && is_floating(output.dtype))
      for (const double value : unpack<double>(output).data) all &= std::isfinite(value);
    finite.push_back(all);
  }
  return finite;
}

}  // namespace recut::test

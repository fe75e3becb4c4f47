// Shardings of a graph's parameters, inputs and outputs over a mesh, by a placement file.
//
//   ; Megatron's linear layers over the second axis, the batch over the first one.
//   parameters
//     layers.*.up      [R, S(0)]
//     layers.*.down    [R, S(1)]
//   inputs
//     x                [S(0), R]
//   outputs
//     logits           [S(0), S(-1)]
//
// A line has a name or a pattern, and a placement for each axis of the mesh (sharding_text.h). A
// pattern matches names, and paths of modules as `recut plan --save` does. A parameter without a
// path has that of its first reader. All other values are R on all axes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/ir/graph.h"
#include "engine/mesh/distributed_tensor.h"
#include "engine/support/result.h"

namespace recut::mesh {

// The graph outlives it, and stays as it is: input kinds and dtypes are kept.
class DistributedModule {
 public:
  DistributedModule(const Graph& graph, DeviceMesh mesh);

  // Reads a placement file, once: a second call fails, as does a line outside a section, a pattern
  // that matches nothing or stands there twice, two patterns that disagree about a value (a name
  // beats a pattern), a name that the graph computes, and placements that don't fit mesh and value.
  // All errors are reported, with their lines.
  Result<Done> place(std::string_view text, std::string_view file_name);

  // The same placements for a graph that has the same inputs and results, by their positions, with
  // other names or dtypes.
  DistributedModule placed_like(const Graph& graph) const;

  const Graph& graph() const { return graph_; }
  const DeviceMesh& mesh() const { return mesh_; }

  // Parameters, inputs and constants in the graph's order, and results in theirs.
  const std::vector<NodeId>& inputs() const { return inputs_; }
  const Sharding& of_input(NodeId input) const { return input_shardings_.at(input); }
  const std::vector<Sharding>& of_results() const { return result_shardings_; }

  // The values of all inputs, each scattered or broadcast from the first rank of every line. Fails
  // where a value is missing or of another type, and as distribute() does.
  Result<std::map<NodeId, DistributedTensor>> distribute_inputs(const Inputs& values,
                                                                Traffic& traffic) const;

 private:
  friend class PlacementReader;

  const Graph& graph_;
  DeviceMesh mesh_;
  std::string file_;  // that was read; "" before
  bool placed_ = false;
  std::vector<NodeId> inputs_;
  std::map<NodeId, Sharding> input_shardings_;
  std::vector<Sharding> result_shardings_;
};

// The placements as a file that place() reads: a line for each value that isn't replicated.
std::string placement_file(const DistributedModule& module);

// A line for each input and result: type, placements, and the shape and bytes that ranks hold, in
// runs of equal ranks; then the bytes of all inputs on the first rank, which holds the most.
std::string format(const DistributedModule& module);

}  // namespace recut::mesh

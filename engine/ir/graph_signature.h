// The graph signature: how the tensors of a caller take part in a step, beyond its inputs and
// outputs. torch.export has it as ExportGraphSignature, AOTAutograd as ViewAndMutationMeta: a graph
// is functional, and its wrapper writes new values back into the caller's tensors.
//
// Results are named by their place in Graph::results, inputs by their names, so that a pass keeps
// the signature as it is.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// A result that is the new value of an input.
struct Mutation {
  std::size_t result = 0;
  std::string input;
  bool value = true;      // the elements change
  bool metadata = false;  // sizes and strides change, as by `t_`

  bool operator==(const Mutation& other) const {
    return result == other.result && input == other.input && value == other.value &&
           metadata == other.metadata;
  }
};

// A dual number of forward mode: an input or a result, and its tangent at a level. Levels nest: a
// tangent of level 1 is the derivative of everything that level 0 computes, its tangents too.
// PyTorch has them as torch.autograd.forward_ad's make_dual, unpack_dual and dual_level.
struct DualInput {
  std::string primal, tangent;
  int level = 0;
};
struct DualResult {
  std::size_t primal = 0, tangent = 0;
  int level = 0;
};

struct GraphSignature {
  std::vector<Mutation> mutations;
  std::vector<std::size_t> tangent_of;  // the result of each tangent, in order; empty: not known
  std::vector<DualInput> dual_inputs;
  std::vector<DualResult> dual_results;
  std::vector<std::vector<std::string>> shared_storages;  // inputs that lie in one storage
  bool deterministic = false;  // traced under torch.use_deterministic_algorithms

  bool empty() const {
    return mutations.empty() && tangent_of.empty() && dual_inputs.empty() && dual_results.empty() &&
           shared_storages.empty() && !deterministic;
  }
};

// Sets the signature of a graph; an empty one becomes none.
void set_signature(Graph& graph, GraphSignature signature);

// The mutation that a result is; null for a result of its own, and where there is no such result.
const Mutation* mutation_of(const Graph& graph, std::size_t result);

// The input over which a result is written. Invalid for a result of its own, and where the metadata
// changes.
NodeId mutated_input(const Graph& graph, std::size_t result);

// True for an input that a result is the new value of.
bool is_mutated(const Graph& graph, NodeId input);

// The results that a caller sees, in order: all that are no new values of inputs.
std::vector<std::size_t> user_results(const Graph& graph);

// The signature of a graph without its tangents; an empty one where it has none.
GraphSignature without_tangents(const Graph& graph);

// The signature of a graph with some of the results, which stand in `kept` by their former places.
// Results that aren't there any more are left out, and tangents are not known if one lost its own.
GraphSignature with_results(const GraphSignature& signature, const std::vector<std::size_t>& kept);

// The level of a further derivative by forward mode: above all levels that the graph has.
int next_dual_level(const Graph& graph);

// Faults of a graph's signature: results and inputs that aren't there, a mutation or tangent of
// another type, two mutations of one input, two tangents at one level. Empty for a sound one.
std::vector<std::string> check_signature(const Graph& graph);

}  // namespace recut

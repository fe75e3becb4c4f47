// Selection of the inputs and results of a graph that take part in a derivative.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut::autodiff {

// The inputs that get a gradient, in order. A name that is no input, or no real one, is a
// diagnostic.
Result<std::vector<NodeId>> inputs_requiring_grad(
    const Graph& graph, const std::optional<std::vector<std::string>>& names);

// Activity analysis: by position in graph.order(), whether the node depends differentiably on one
// of these inputs.
std::vector<bool> active_nodes(const Graph& graph, const std::vector<NodeId>& inputs);

// Tells whether a result is the new value of a buffer. The graph's signature says so
// (graph_signature.h); in a file without one it follows from the call (differentiate.h).
bool updates_buffer(const Graph& graph, std::size_t result);

// The input that a result is the new value of: of a mutation, of a buffer, or the count of batches
// that it increments. Invalid for any other result.
NodeId updated_buffer(const Graph& graph, std::size_t result);

// The results to differentiate by default.
std::vector<std::size_t> differentiable_results(const Graph& graph,
                                                const std::vector<NodeId>& requires_grad);

}  // namespace recut::autodiff

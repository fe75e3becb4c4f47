// Selection of the inputs and results of a graph that take part in a derivative.
#pragma once

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

// Tells whether the node is the new value of a buffer (differentiate.h).
bool updates_buffer(const Graph& graph, NodeId node);

// The buffer that the node is the new value of (differentiate.h), or the count of batches that it
// increments. Invalid if it is neither.
NodeId updated_buffer(const Graph& graph, NodeId node);

// The results to differentiate by default.
std::vector<std::size_t> differentiable_results(const Graph& graph,
                                                const std::vector<NodeId>& requires_grad);

}  // namespace recut::autodiff

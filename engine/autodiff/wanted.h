// Which inputs and results of a graph take part in a derivative.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut::autodiff {

// The inputs that get a gradient, in order; a diagnostic for a name that is none, or not real.
Result<std::vector<NodeId>> wanted_inputs(const Graph& graph,
                                          const std::optional<std::vector<std::string>>& names);

// By position in graph.order(): which nodes depend differentiably on these inputs.
std::vector<bool> active_nodes(const Graph& graph, const std::vector<NodeId>& inputs);

// Whether the node is a new value of an input that is no parameter: see differentiate.h.
bool updates_buffer(const Graph& graph, NodeId node);

// The input, no parameter, that the node is the new value of (differentiate.h), or a count of
// batches that it adds a number to; invalid where it is none.
NodeId updated_buffer(const Graph& graph, NodeId node);

// The results to differentiate where the caller names none.
std::vector<std::size_t> differentiable_results(const Graph& graph,
                                                const std::vector<NodeId>& wanted);

}  // namespace recut::autodiff

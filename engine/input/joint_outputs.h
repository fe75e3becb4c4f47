// The output list of an fx-joint-graph: results, then gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "engine/input/complaints.h"
#include "engine/input/joint_values.h"
#include "engine/ir/graph.h"

namespace recut {

// Reads [[result, …, gradient or null, …]] with `forward_outputs` results (none: all are), sets the
// graph's results and gradients, and tells parameters (which have a gradient) from inputs.
// `number_inputs`: the places, among placeholders that are no tangents, of those that are symbolic
// sizes: the graph hasn't them, so that their gradients, null, are passed over, and so are results
// that are sizes. Complains about counts and shapes that don't fit and about results that need a
// tangent; says nothing about outputs that are faulty nodes.
void read_joint_outputs(JsonValue output_arguments, std::optional<std::int64_t> forward_outputs,
                        const std::set<std::size_t>& number_inputs, const FindNode& find_node,
                        Graph& graph, Complaints& complaints);

}  // namespace recut

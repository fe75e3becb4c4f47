// The output list of an fx-joint-graph: results, then gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "engine/input/diagnostic_collector.h"
#include "engine/input/joint_values.h"
#include "engine/ir/graph.h"

namespace recut {

// Reads [[result, …, gradient or null, …]] with `forward_outputs` results (none: all are), sets the
// graph's results and gradients, and marks placeholders with a gradient as parameters.
// `number_inputs` are the positions, among non-tangent placeholders, of symbolic sizes. They are no
// inputs of the graph: their null gradients are skipped, as are results that are sizes. Reports
// wrong counts and shapes and results that depend on a tangent; ignores outputs that are faulty
// nodes. In a nested graph a result that is a size becomes an absent one, so that the others keep
// their places. Returns the place among the graph's results of each output of forward; none: a size.
std::vector<std::optional<std::size_t>> read_joint_outputs(
    JsonValue output_arguments, std::optional<std::int64_t> forward_outputs,
    const std::set<std::size_t>& number_inputs, bool nested, const FindNode& find_node,
    Graph& graph, DiagnosticCollector& diagnostics);

}  // namespace recut

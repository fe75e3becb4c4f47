// Complex numbers among the arguments of an fx-joint-graph: {"complex": [1.5, "inf"]}. The graph has
// no such numbers, so each becomes a tensor without dimensions.
#pragma once

#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

#include "engine/input/joint_nodes.h"
#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut {

bool is_complex_number(JsonValue value);
bool has_complex_number(const JointNode& node);

Result<std::complex<double>> read_complex_number(JsonValue value);

// Numbers by the positions of their parameters.
using ComplexNumbers = std::vector<std::pair<std::size_t, std::complex<double>>>;

// Adds the numbers to the graph as calls at the node's location, and to the arguments. As in
// PyTorch's type promotion, the other arguments decide on complex64 or complex128.
void add_complex_numbers(const ComplexNumbers& numbers, const JointNode& node, Graph& graph,
                         std::vector<Argument>& arguments);

}  // namespace recut

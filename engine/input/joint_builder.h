// From the nodes of an fx-joint-graph to a Graph.
#pragma once

#include <cstdint>

#include "engine/input/complaints.h"
#include "engine/input/joint_nodes.h"
#include "engine/ir/graph.h"

namespace recut {

// Appends the nodes to `graph`, checked one by one: operators, arguments, recorded types against
// the operators' rules, outputs. Users of a faulty node are not complained about in turn. The graph
// is sound only where `complaints` stays empty. Interning makes equal nodes one. What
// was measured of the nodes is added to what `graph` has.
void build_joint_graph(const JointNodes& nodes, std::int64_t forward_outputs, Graph& graph,
                       Complaints& complaints);

}  // namespace recut

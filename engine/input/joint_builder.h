// From the nodes of an fx-joint-graph to a Graph.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/input/complaints.h"
#include "engine/input/joint_nodes.h"
#include "engine/input/symbols.h"
#include "engine/ir/graph.h"

namespace recut {

// Which placeholders of a forward graph the module holds, by name; a joint graph's parameters are
// those that have a gradient.
struct JointRoles {
  std::vector<std::string> parameters;
  std::vector<std::string> buffers;  // become constants
};

// Appends the nodes to `graph`, checked one by one: operators, arguments, recorded types against
// the operators' rules, outputs. Users of a faulty node are not complained about in turn. The graph
// is sound only where `complaints` stays empty. Interning makes equal nodes one. What was
// measured of the nodes is added to what `graph` has. Works in steps, so that a frame may come
// between two; all that it is given must outlive it.
class JointGraphBuilder {
 public:
  // `forward_outputs`: how many of the outputs are results; none: all of them. Nodes that are
  // symbolic sizes become the numbers that `symbols` binds them to, placeholders among them.
  JointGraphBuilder(const JointNodes& nodes, std::optional<std::int64_t> forward_outputs,
                    const JointRoles& roles, const Symbols& symbols, Graph& graph,
                    Complaints& complaints);
  ~JointGraphBuilder();

  bool step();  // true where there is more to do

  // Of calls that are kept by name, whose operators Recut doesn't know; "" where there are none.
  std::string externals_note() const;

 private:
  class Builder;
  std::unique_ptr<Builder> builder_;
};

}  // namespace recut

// Builds a Graph from the nodes of an fx-joint-graph.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/input/diagnostic_collector.h"
#include "engine/input/graph_file.h"
#include "engine/input/joint_nodes.h"
#include "engine/input/symbols.h"
#include "engine/ir/graph.h"

namespace recut {

// Placeholders of a forward graph that the module holds, by name. In a joint graph, parameters are
// the placeholders with a gradient.
struct JointRoles {
  std::vector<std::string> parameters;
  std::vector<std::string> buffers;  // become constants
};

// Appends the nodes to `graph`, checked one by one: operators, arguments, recorded types against
// the operators' rules, outputs. Users of a faulty node are not reported in turn. The graph is
// valid only if `diagnostics` stays empty. Interning merges equal nodes. Measurements of the nodes
// are added to those of `graph`. Works in steps that a window can interleave with frames; all
// arguments must outlive it.
class JointGraphBuilder {
 public:
  // `forward_outputs` is the number of outputs that are results; none: all of them. Symbolic sizes,
  // placeholders among them, become the numbers that `symbols` binds them to.
  JointGraphBuilder(const JointNodes& nodes, std::optional<std::int64_t> forward_outputs,
                    const JointRoles& roles, const Symbols& symbols, Graph& graph,
                    DiagnosticCollector& diagnostics);
  ~JointGraphBuilder();

  bool step();  // true if there is more to do

  // The place among the graph's results of each output of forward in the file; none: a size.
  const std::vector<std::optional<std::size_t>>& result_places() const;

  // Sets the notes of the graph's file on calls of unknown operators, which are kept by name.
  void add_notes(GraphFile& file) const;

 private:
  class Builder;
  std::unique_ptr<Builder> builder_;
};

}  // namespace recut

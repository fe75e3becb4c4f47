// Calls in an fx-joint-graph of operators that the table lacks (engine/ir/external_operator.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/diagnostic_collector.h"
#include "engine/input/graph_file.h"
#include "engine/input/joint_nodes.h"
#include "engine/input/joint_values.h"
#include "engine/input/written_values.h"
#include "engine/ir/external_operator.h"
#include "engine/ir/graph.h"

namespace recut {

// An argument of a call without a known schema. As read_joint_argument, and objects of other kinds
// too, as lists that begin with their key: {"slice": [0, 4]} becomes ["slice", [0, 4]], and
// {"dict": {"a": 1}} becomes ["dict", [["a", 1]]].
Result<Argument> read_external_argument(JsonValue value, const FindNode& find_node, bool& sound);

// A call of such an operator, but for its last argument, `draw`.
struct ExternalCall {
  const Operator* op = nullptr;
  std::vector<Argument> arguments;
  bool sound = true;  // false where an argument is a faulty node
};
Result<ExternalCall> read_external_call(const JointNode& node, bool several,
                                        const FindNode& find_node);

// True for a call whose values Recut computes.
bool is_computed(const Graph& graph, NodeId call);

// Adds outputs that the file doesn't show: a printed graph lacks the last ones of a call if they are
// unused, and any file the items of a list among them.
void add_unread_outputs(const Graph& graph, const Node& call, std::vector<TensorType>& types);

// The items of a list among a call's outputs, where `item` reads that list.
std::optional<std::vector<NodeId>> list_output(Graph& graph, NodeId call, const JointNode& item);

// The calls of a graph that are kept by name, and diagnostics about calls that can't be.
class ExternalCalls {
 public:
  void add_dropped(std::string_view target) { ++dropped_[std::string(target)]; }
  void add_refused(std::string_view target, std::size_t node);
  void add_all(const ExternalCalls& nested);

  // A nested graph that the file lacks, by the name of its get_attr.
  void add_missing_region(std::string_view name) { missing_regions_.emplace(name); }

  // Written values follow the results, as new values of their inputs in the graph's signature: they
  // are alive to the end of forward. Values that need a tangent are left out. Detached values are
  // outside of differentiation.
  void add_written_values(const std::vector<WrittenValues::Operand>& values,
                          const JointNodes& nodes, bool detached, Graph& graph);

  // Reports every operator that has calls without types.
  void report_refused(const JointNodes& nodes, DiagnosticCollector& diagnostics) const;

  // Sets the file's notes on calls that are kept by name, and on parts that were left out or moved.
  void add_notes(GraphFile& file) const;

 private:
  struct Refused {
    std::size_t first_node = 0;
    std::size_t uses = 0;
  };
  std::map<std::string, std::size_t> dropped_;  // by target
  std::map<std::string, Refused, std::less<>> refused_;
  std::size_t written_ = 0, written_in_backward_ = 0;
  std::set<std::string> missing_regions_;
};

}  // namespace recut

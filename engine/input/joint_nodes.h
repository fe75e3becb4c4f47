// The parsed node list of an fx-joint-graph: fields by name, references unresolved.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/input/diagnostic_collector.h"
#include "engine/input/json.h"
#include "engine/ir/origin.h"

namespace recut {

struct JointNode {
  std::string_view name, op, target, module, source;  // views into the document
  std::int64_t seq_nr = -1;                           // -1: none
  std::string_view recompute;                         // the checkpoint policy's name, "" where none
  std::int64_t ac_graph_id = -1;                      // the checkpointed region, -1 where none
  bool autocast = false;                              // the call runs in an autocast region
  JsonValue args, kwargs, val;                        // kwargs, val: absent if the file has none
  JsonValue measured;                                 // an object; absent if the file has none
  JsonValue subgraph;                                 // nodes of a nested graph, of a get_attr
  JsonValue object;                                   // the whole node: the location of diagnostics
  bool sound = false;  // all required fields exist and have the right kinds
};

struct JointNodes {
  std::vector<JointNode> nodes;
  std::unordered_map<std::string_view, std::size_t> by_name;  // looked up only, never walked
};

// Reads the fields of every node. Reports missing and ill-typed fields and duplicate names. Nodes
// with such faults are not sound; nodes without a unique name are left out.
JointNodes read_joint_nodes(JsonValue list, DiagnosticCollector& diagnostics);

// Its origin in the user's program. A policy that Recut doesn't know counts as none.
Origin origin_of(const JointNode& node);

// A note on the calls whose checkpoint policies Recut doesn't know; "" where there are none.
std::string unknown_policies_note(const JointNodes& nodes);

// The node in messages: "node 'mm_3'".
std::string describe_node(std::string_view name);

}  // namespace recut

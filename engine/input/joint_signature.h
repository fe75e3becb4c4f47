// The graph signature (engine/ir/graph_signature.h) in an fx-joint-graph of version 2, by these
// members of the file:
//
//   "writes": [{"result": 0, "input": "primals_1", "metadata_only": false}]
//   "views": [{"result": 2, "input": "primals_1"}, {"result": 3, "of_result": 2}]
//   "tangents": [2, 3]                 the result of each tangents_i, in order
//   "shared_storages": [["primals_1", "primals_3"]]
//   "deterministic": true
//
// Results are counted in the list of outputs, sizes among them. That a result is a view follows
// from the graph: "views" are checked, and nothing more is made of them.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "engine/input/diagnostic_collector.h"
#include "engine/input/joint_nodes.h"
#include "engine/input/json.h"
#include "engine/input/json_fields.h"
#include "engine/ir/graph.h"

namespace recut {

inline constexpr std::string_view kSignatureKeys[] = {"writes", "views", "tangents",
                                                      "shared_storages", "deterministic"};

// The members; absent where the file has none.
struct JointSignature {
  JsonValue writes, views, tangents, shared_storages;
  bool deterministic = false;

  JointSignature() = default;
  explicit JointSignature(JsonFields& fields);

  // The placeholders that "writes" names, as far as these are sound.
  std::set<std::string_view> written() const;
};

// Adds them to the signature of the graph, which may have one from the writes of its own calls.
// `results` are the places among the graph's results of the file's outputs; none: a size.
void read_joint_signature(const JointSignature& signature, const JointNodes& nodes,
                          const std::vector<std::optional<std::size_t>>& results, Graph& graph,
                          DiagnosticCollector& diagnostics);

}  // namespace recut

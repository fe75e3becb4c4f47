// What a graph's kernels took on a device: part of a device profile, and how plans are priced by
// it.
//
//   "measured": {"graph": "gpt2", "digest": "0123456789abcdef",
//                "kernels": [{"calls": ["mul_3", "sum_1"], "us": 12.5},
//                            {"calls": ["mm"], "us": 40.1, "workspace_bytes": 1048576}]}
//
// A kernel is what one launch computes: a fusion group's calls, or one call, in their order and
// without views. The digest is that of the graph as text, with the names of its nodes: where it is
// another's, no time of this is used.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/input/json_fields.h"
#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut {

struct MeasuredKernel {
  std::vector<std::string> calls;
  double micros = 0;                 // of one run
  std::int64_t workspace_bytes = 0;  // that its library took for itself
};

struct MeasuredGraph {
  std::string name, digest;
  std::vector<MeasuredKernel> kernels;

  bool is_of(const Graph& graph) const;
};

// 16 digits of hexadecimal.
std::string graph_digest(const Graph& graph);

// Complains of keys that are unknown and of figures that can't be.
MeasuredGraph read_measured_graph(JsonValue object, Complaints& complaints);

// The measured times by their kernels' calls.
class KernelPrices {
 public:
  // Fails where a call isn't in the graph.
  static Result<std::shared_ptr<const KernelPrices>> make(const MeasuredGraph& measured,
                                                          const Graph& graph);

  // Nothing of a kernel that wasn't measured.
  std::optional<double> of(std::span<const NodeId> calls) const;

  const std::map<std::vector<NodeId>, double>& all() const { return micros_; }

 private:
  std::map<std::vector<NodeId>, double> micros_;
};

// The graph's measurements with the workspaces of its calls, as they were measured with their
// kernels; those above `most` bytes are left out. Null where there is nothing of either kind. Fails
// where a call isn't in the graph.
Result<std::shared_ptr<const Measurements>> with_workspaces(const MeasuredGraph& measured,
                                                            const Graph& graph, std::int64_t most);

}  // namespace recut

// Measured times of a graph's kernels on a device: part of a device profile, used by the cost
// model.
//
//   "measured": {"graph": "gpt2", "digest": "0123456789abcdef",
//                "kernels": [{"calls": ["mul_3", "sum_1"], "us": 12.5},
//                            {"calls": ["mm"], "us": 40.1, "workspace_bytes": 1048576}]}
//
// A kernel is one launch: the calls of a fusion group, or one call, in order and without views. The
// digest is that of the graph as text, including node names; times of another digest are not used.
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
  std::int64_t workspace_bytes = 0;  // allocated by its library
};

struct MeasuredGraph {
  std::string name, digest;
  std::vector<MeasuredKernel> kernels;

  bool is_of(const Graph& graph) const;
};

// 16 digits of hexadecimal.
std::string graph_digest(const Graph& graph);

// Reports unknown keys and figures out of range.
MeasuredGraph read_measured_graph(JsonValue object, DiagnosticCollector& diagnostics);

// Measured microseconds by the calls of a kernel.
class KernelTimes {
 public:
  // Fails if a call is not in the graph.
  static Result<std::shared_ptr<const KernelTimes>> make(const MeasuredGraph& measured,
                                                         const Graph& graph);

  // Nullopt for a kernel that was not measured.
  std::optional<double> of(std::span<const NodeId> calls) const;

  const std::map<std::vector<NodeId>, double>& all() const { return micros_; }

 private:
  std::map<std::vector<NodeId>, double> micros_;
};

// The graph's measurements extended by the measured workspaces of its calls, without those above
// `max_bytes` bytes. Null if there are neither. Fails if a call is not in the graph.
Result<std::shared_ptr<const Measurements>> with_workspaces(const MeasuredGraph& measured,
                                                            const Graph& graph,
                                                            std::int64_t max_bytes);

}  // namespace recut

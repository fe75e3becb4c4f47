// Measurements of a graph's nodes on a device: run times, and workspace bytes of calls.
//
// They are kept beside the graph, not in its nodes, because equal calls must stay one node even if
// their times differ. Ids of interned nodes outlive passes: a node that a pass keeps still has its
// measurement, and a new node has none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/ir/argument.h"

namespace recut {

struct Measurement {
  std::optional<double> micros;      // of one run; 0 or more
  std::int64_t workspace_bytes = 0;  // alive while it runs, beside operands and outputs
};

class Measurements {
 public:
  std::string device;            // name as the file gives it; "" if it gives none
  std::int64_t granularity = 1;  // bytes that the allocator rounds up to

  // Interning may merge measured nodes: the larger measurement counts.
  void add(NodeId id, const Measurement& measurement) {
    if (id.index >= by_node_.size()) by_node_.resize(id.index + 1);
    Measurement& known = by_node_[id.index];
    if (measurement.micros) {
      known.micros = std::max(known.micros.value_or(0), *measurement.micros);
      has_times_ = true;
    }
    known.workspace_bytes = std::max(known.workspace_bytes, measurement.workspace_bytes);
  }

  // Null if the node was not measured.
  const Measurement* of(NodeId id) const {
    return id.index < by_node_.size() ? &by_node_[id.index] : nullptr;
  }

  // has_times(): some node has a time. any(): there is any information at all.
  bool has_times() const { return has_times_; }
  bool any() const { return !by_node_.empty() || granularity != 1 || !device.empty(); }

  // Bytes that the allocator takes for a request of `bytes`.
  std::int64_t allocated(std::int64_t bytes) const {
    return (bytes + granularity - 1) / granularity * granularity;
  }

 private:
  std::vector<Measurement> by_node_;  // by id
  bool has_times_ = false;
};

}  // namespace recut

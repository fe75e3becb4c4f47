// What was measured of a graph's nodes on a device: times, and bytes that calls take for
// themselves.
//
// This stands beside the graph, not in its nodes: what a call is doesn't depend on how long it took
// somewhere. Nodes are interned and their ids outlive passes, so that a node that a pass keeps has
// its measurement still, and one that a pass makes has none.
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
  std::string device;            // where, in the file's words; "" where it doesn't say
  std::int64_t granularity = 1;  // the allocator gives multiples of so many bytes

  // Of several measurements of one node the larger counts: nodes that interning made one.
  void add(NodeId id, const Measurement& measurement) {
    if (id.index >= by_node_.size()) by_node_.resize(id.index + 1);
    Measurement& known = by_node_[id.index];
    if (measurement.micros) {
      known.micros = std::max(known.micros.value_or(0), *measurement.micros);
      has_times_ = true;
    }
    known.workspace_bytes = std::max(known.workspace_bytes, measurement.workspace_bytes);
  }

  // Null where there is nothing about a node.
  const Measurement* of(NodeId id) const {
    return id.index < by_node_.size() ? &by_node_[id.index] : nullptr;
  }

  // Whether any node has a time; whether anything is here at all.
  bool has_times() const { return has_times_; }
  bool any() const { return !by_node_.empty() || granularity != 1 || !device.empty(); }

  // What the allocator takes for `bytes`; nothing for none.
  std::int64_t allocated(std::int64_t bytes) const {
    return (bytes + granularity - 1) / granularity * granularity;
  }

 private:
  std::vector<Measurement> by_node_;  // by id
  bool has_times_ = false;
};

}  // namespace recut

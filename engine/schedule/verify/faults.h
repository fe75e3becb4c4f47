// Collects the verifier's diagnostics.
#pragma once

#include <string>
#include <utility>

#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut::verify {

class Faults {
 public:
  explicit Faults(const Graph& graph) : graph_(&graph) {}

  void add(std::string message) {
    if (found_.size() < kMaxFaults) found_.push_back(error(std::move(message)));
  }
  bool empty() const { return found_.empty(); }
  Diagnostics take() { return std::move(found_); }

  std::string name(NodeId id) const {
    return id.valid() && graph_->contains(id) ? graph_->node_name(id) : "?";
  }

 private:
  static constexpr std::size_t kMaxFaults = 100;
  const Graph* graph_;
  Diagnostics found_;
};

}  // namespace recut::verify

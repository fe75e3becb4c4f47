// Overrides: values that the user fixed to be saved or recomputed. Every plan respects them, as
// PyTorch's selective checkpointing respects MUST_SAVE and MUST_RECOMPUTE.
#pragma once

#include <string_view>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// A saved node runs once, and its storages are kept for backward. A recomputed node runs again in
// backward for its readers there. A view stands for the call whose storage it shares.
struct Overrides {
  std::vector<NodeId> save;
  std::vector<NodeId> recompute;

  bool empty() const { return save.empty() && recompute.empty(); }
};

// Tells which nodes can be overridden, and why the others can't. Built in O(nodes + edges).
class OverrideRules {
 public:
  explicit OverrideRules(const Graph& graph);

  // Empty where the node can be overridden; else the reason, as the end of a sentence about it.
  std::string_view why_not_saved(NodeId id) const;
  std::string_view why_not_recomputed(NodeId id) const;
  // The same of a node that is recomputed for other recomputed nodes: backward itself need not read
  // it.
  std::string_view why_not_run_again(NodeId id) const;

 private:
  std::string_view why_not_overridable(NodeId source) const;

  const Graph& graph_;
  const bool joint_;
  std::vector<bool> needs_tangent_, forward_, result_, read_in_backward_;  // by position
};

}  // namespace recut

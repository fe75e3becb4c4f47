// Choices made by hand, which a plan has to respect.
#pragma once

#include <string_view>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// A saved node runs once, so that whatever backward needs of it is kept; a recomputed one runs
// again in backward for the readers there. Views stand for what is behind them.
struct Pins {
  std::vector<NodeId> save;
  std::vector<NodeId> recompute;

  bool empty() const { return save.empty() && recompute.empty(); }
};

// Which nodes can be pinned, and why the others can't.
class PinRules {
 public:
  explicit PinRules(const Graph& graph);

  // "" where the node can be pinned; else why it can't, as the end of a sentence about it.
  std::string_view why_not_saved(NodeId id) const;
  std::string_view why_not_recomputed(NodeId id) const;

 private:
  std::string_view why_no_choice(NodeId source) const;

  const Graph& graph_;
  std::vector<bool> late_, forward_, result_, read_late_;  // by position
};

}  // namespace recut

// Carries a plan and the kernels of one rank's graph over to another rank's.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "engine/fusion/kernel_model.h"
#include "engine/ir/graph.h"
#include "engine/ir/plan.h"
#include "engine/support/result.h"

namespace recut {

// The calls of another rank's graph that a rank's calls are: by their names, which calls in the same
// order have alike. Where ranks have uneven parts, calls may be equal on one rank, and so one node,
// and different on another.
class RankCalls {
 public:
  // Fails where a call of `first` has no counterpart, or one of another operator.
  static Result<RankCalls> between(const Graph& first, const Graph& other);

  const std::vector<NodeId>& of(NodeId first) const { return counterparts_.at(first); }

  // The plan with the counterparts of its calls. A call that is one where the plan has two runs at
  // the first of them.
  Plan carry(const Plan& plan) const;
  // The kernels with the counterparts of their calls: a plan runs a kernel's calls together. A call
  // that would be in two kernels is in the first, and a kernel of one call is none.
  KernelModel carry(const FusionGroups& groups, const Graph& other) const;

 private:
  bool has_counterparts(NodeId id, const Graph& first, const Graph& other) const;
  std::vector<NodeId> carry(std::span<const NodeId> calls) const;

  std::map<NodeId, std::vector<NodeId>> counterparts_;
};

}  // namespace recut

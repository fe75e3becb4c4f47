// A joint or forward graph as a rematerialisation problem, and sequences of it as plans.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/cost/device.h"
#include "engine/fusion/fusion_groups.h"
#include "engine/ir/graph.h"
#include "engine/ir/plan.h"
#include "engine/ir/storage_model.h"
#include "engine/partition/overrides.h"
#include "engine/partition/problem/remat_problem.h"

namespace recut {

// Computations are the calls that results and gradients need. Views are none: they cost nothing and
// share their operand's storage, so reading a view reads that storage. A group of calls that run as
// one kernel is one computation, whose storages are the values that leave it. A workspace is a
// storage without readers. A forward graph has no boundary: every run is of forward, and results
// may run again, too. Invariant: a plan made from a sequence replays (replay.h) with the sequence's
// peak, to the byte, in the same model.
class JointProblem {
 public:
  // The values of `graph` add up to at most 2^60 bytes (check_total_bytes). Storage sizes are
  // rounded up to multiples of `alignment` bytes: above 1, the peak is that of an arena without
  // gaps.
  JointProblem(const Graph& graph, const StorageModel& storages, const DeviceRates& rates = {},
               const Overrides& overrides = {}, const FusionGroups& groups = {},
               std::int64_t alignment = 1);

  const RematProblem& problem() const { return problem_; }

  // Replaces the program order by another order that runs each computation once.
  void set_order(std::vector<std::int32_t> order) { problem_.order = std::move(order); }

  // The calls that a computation runs, in order; none for the boundary and the end.
  std::span<const NodeId> calls(std::int32_t computation) const {
    return std::span(calls_).subspan(first_call_[computation],
                                     first_call_[computation + 1] - first_call_[computation]);
  }
  // The first of them: calls that its kernel computes again for itself.
  std::span<const NodeId> inlined(std::int32_t computation) const {
    return calls(computation).first(inlined_[computation]);
  }
  // A call that no other computation runs; invalid for the boundary and the end.
  NodeId node(std::int32_t computation) const {
    return calls(computation).empty() ? NodeId() : calls(computation).back();
  }

  // The duration that forced recomputations add to one run of every node.
  std::int64_t forced_duration() const { return forced_duration_; }

  double micros(std::int64_t duration) const {
    return static_cast<double>(duration) * micros_per_unit_;
  }

  Plan plan(std::span<const std::int32_t> sequence) const;

 private:
  friend class JointProblemBuilder;

  const Graph* graph_;
  RematProblem problem_;
  std::vector<NodeId> calls_;
  std::vector<std::size_t> first_call_{0};  // by computation
  std::vector<std::size_t> inlined_;        // by computation: how many
  std::int64_t forced_duration_ = 0;
  double micros_per_unit_ = 1e-6;
};

}  // namespace recut

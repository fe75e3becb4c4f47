// A joint graph as a Problem, and sequences of it as plans.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cost/device.h"
#include "engine/fusion/fusion_groups.h"
#include "engine/ir/graph.h"
#include "engine/ir/plan.h"
#include "engine/ir/storage_model.h"
#include "engine/partition/pins.h"
#include "engine/partition/problem/problem.h"

namespace recut {

// Computations are the calls that results and gradients need, but for views: those cost nothing and
// share their operand's storage, so that reading a view is reading what stands behind it. A group
// of calls that run as one kernel is one computation; its storages are those that leave it. A
// workspace is a storage that nobody reads. A plan made of a sequence replays (replay.h) with the
// sequence's peak, to the byte, in the same model.
class JointProblem {
 public:
  // The values of `graph` add up to no more than 2^60 bytes (check_total_bytes). Storages take up
  // multiples of `alignment` bytes; with more than 1 the peak is that of an arena without gaps.
  JointProblem(const Graph& graph, const StorageModel& storages, const DeviceRates& rates = {},
               const Pins& pins = {}, const FusionGroups& groups = {}, std::int64_t alignment = 1);

  const Problem& problem() const { return problem_; }

  // The calls that a computation runs, in their order; none for the border and the end.
  std::span<const NodeId> calls(std::int32_t computation) const {
    return std::span(calls_).subspan(first_call_[computation],
                                     first_call_[computation + 1] - first_call_[computation]);
  }
  // The first of them: what its kernel computes again for itself.
  std::span<const NodeId> inlined(std::int32_t computation) const {
    return calls(computation).first(inlined_[computation]);
  }
  // One that no other computation runs; invalid for the border and the end.
  NodeId node(std::int32_t computation) const {
    return calls(computation).empty() ? NodeId() : calls(computation).back();
  }

  // What pins alone add to the duration of running every node once.
  std::int64_t pinned_duration() const { return pinned_duration_; }

  double micros(std::int64_t duration) const {
    return static_cast<double>(duration) * micros_per_unit_;
  }

  Plan plan(std::span<const std::int32_t> sequence) const;

 private:
  friend class JointProblemBuilder;

  const Graph* graph_;
  Problem problem_;
  std::vector<NodeId> calls_;
  std::vector<std::size_t> first_call_{0};  // by computation
  std::vector<std::size_t> inlined_;        // by computation: how many
  std::int64_t pinned_duration_ = 0;
  double micros_per_unit_ = 1e-6;
};

}  // namespace recut

#include "engine/partition/problem/fused_plan_from_saved.h"

#include <cstdint>

#include "engine/partition/problem/joint_problem.h"

namespace recut {
namespace {

class FusedPlanBuilder {
 public:
  FusedPlanBuilder(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
                   const std::vector<NodeId>& requested)
      : graph_(graph),
        storages_(storages),
        groups_(groups),
        joint_(graph, storages, {}, {}, groups),
        maker_(storages.size(), kNobody),
        kept_(storages.size(), false),
        in_forward_(static_cast<std::size_t>(problem().size()), false),
        recomputed_(static_cast<std::size_t>(problem().size()), false) {
    for (std::int32_t c = 0; c < problem().size(); ++c)
      for (const NodeId call : joint_.calls(c).subspan(joint_.inlined(c).size()))
        for (const StorageId storage : storages.owned(call)) maker_[storage.index] = c;
    for (const NodeId id : requested)
      for (const StorageId storage : storages.storages_of(id)) kept_[storage.index] = true;
  }

  Plan plan() {
    bool forward = true;
    for (const std::int32_t c : problem().order) {
      if (c == problem().boundary()) forward = false;
      if (!forward) recompute_inputs(c);
      in_forward_[static_cast<std::size_t>(c)] = forward;
      sequence_.push_back(c);
    }
    return joint_.plan(sequence_);
  }

 private:
  static constexpr std::int32_t kNobody = -1;

  const RematProblem& problem() const { return joint_.problem(); }

  // Depth first with an explicit stack: graphs are deeper than the call stack.
  void recompute_inputs(std::int32_t reader) {
    std::vector<std::int32_t> stack{reader};
    while (!stack.empty()) {
      const std::int32_t missing = missing_input(stack.back());
      if (missing != kNobody) {
        stack.push_back(missing);
        continue;
      }
      const std::int32_t made = stack.back();
      stack.pop_back();
      if (stack.empty()) return;
      recomputed_[static_cast<std::size_t>(made)] = true;
      sequence_.push_back(made);
    }
  }

  // A forward kernel that has to run again before this one can.
  std::int32_t missing_input(std::int32_t reader) const {
    if (!joint_.node(reader).valid()) return kNobody;
    for (const NodeId value : groups_.reads(graph_, joint_.node(reader)))
      for (const StorageId storage : storages_.storages_of(value)) {
        const std::int32_t maker = maker_[storage.index];
        if (maker != kNobody && !kept_[storage.index] && must_recompute(maker)) return maker;
      }
    return kNobody;
  }

  bool must_recompute(std::int32_t maker) const {
    const auto c = static_cast<std::size_t>(maker);
    constexpr std::uint8_t kRunsOnce = RematProblem::kOnce | RematProblem::kBeforeBoundary;
    return in_forward_[c] && !recomputed_[c] && (problem().flags(maker) & kRunsOnce) == 0;
  }

  const Graph& graph_;
  const StorageModel& storages_;
  const FusionGroups& groups_;
  const JointProblem joint_;
  std::vector<std::int32_t> maker_;  // by storage: the computation
  std::vector<bool> kept_;           // by storage
  std::vector<bool> in_forward_, recomputed_;
  std::vector<std::int32_t> sequence_;
};

}  // namespace

Plan plan_from_saved(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
                     const std::vector<NodeId>& requested) {
  return FusedPlanBuilder(graph, storages, groups, requested).plan();
}

}  // namespace recut

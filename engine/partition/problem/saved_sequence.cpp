#include "engine/partition/problem/saved_sequence.h"

#include <cstdint>

#include "engine/partition/problem/joint_problem.h"

namespace recut {
namespace {

class SavedSequence {
 public:
  SavedSequence(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
                const std::vector<NodeId>& wanted)
      : graph_(graph),
        storages_(storages),
        groups_(groups),
        joint_(graph, storages, {}, {}, groups),
        maker_(storages.size(), kNobody),
        kept_(storages.size(), false),
        in_forward_(static_cast<std::size_t>(problem().size()), false),
        again_(static_cast<std::size_t>(problem().size()), false) {
    for (std::int32_t c = 0; c < problem().size(); ++c)
      for (const NodeId call : joint_.calls(c).subspan(joint_.inlined(c).size()))
        for (const StorageId storage : storages.owned(call)) maker_[storage.index] = c;
    for (const NodeId id : wanted)
      for (const StorageId storage : storages.behind(id)) kept_[storage.index] = true;
  }

  Plan plan() {
    bool forward = true;
    for (const std::int32_t c : problem().order) {
      if (c == problem().border()) forward = false;
      if (!forward) make_inputs(c);
      in_forward_[static_cast<std::size_t>(c)] = forward;
      sequence_.push_back(c);
    }
    return joint_.plan(sequence_);
  }

 private:
  static constexpr std::int32_t kNobody = -1;

  const Problem& problem() const { return joint_.problem(); }

  // Depth first with an explicit stack: graphs are deeper than the call stack.
  void make_inputs(std::int32_t reader) {
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
      again_[static_cast<std::size_t>(made)] = true;
      sequence_.push_back(made);
    }
  }

  // A forward kernel that has to run again before this one can.
  std::int32_t missing_input(std::int32_t reader) const {
    if (!joint_.node(reader).valid()) return kNobody;
    for (const NodeId value : groups_.reads(graph_, joint_.node(reader)))
      for (const StorageId storage : storages_.behind(value)) {
        const std::int32_t maker = maker_[storage.index];
        if (maker != kNobody && !kept_[storage.index] && is_gone(maker)) return maker;
      }
    return kNobody;
  }

  bool is_gone(std::int32_t maker) const {
    const auto c = static_cast<std::size_t>(maker);
    constexpr std::uint8_t kStays = Problem::kOnce | Problem::kBeforeBorder;
    return in_forward_[c] && !again_[c] && (problem().flags(maker) & kStays) == 0;
  }

  const Graph& graph_;
  const StorageModel& storages_;
  const FusionGroups& groups_;
  const JointProblem joint_;
  std::vector<std::int32_t> maker_;  // by storage: the computation
  std::vector<bool> kept_;           // by storage
  std::vector<bool> in_forward_, again_;
  std::vector<std::int32_t> sequence_;
};

}  // namespace

Plan plan_from_saved(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
                     const std::vector<NodeId>& wanted) {
  return SavedSequence(graph, storages, groups, wanted).plan();
}

}  // namespace recut

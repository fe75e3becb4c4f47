// A replayed plan by value: where each call runs, which instances of its storages there are, where
// backward first reads it. What can be asked of a value is then answered without going through the
// plan again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/ir/plan.h"
#include "engine/partition/replay.h"

namespace recut {

// What happens to a value between forward and backward.
enum class Fate : std::uint8_t {
  saved,       // made in forward, kept for backward
  recomputed,  // computed again in backward
  neither,     // used up where it is made, a result, or an input
};
std::string_view name_of(Fate fate);

class PlanIndex {
 public:
  // All must outlive this.
  PlanIndex(const Graph& graph, const Plan& plan, const Replay& replay);

  struct Runs {
    std::size_t first = 0, last_use = 0;  // steps; last_use: of any instance
    std::size_t count = 0;                // 0: the call never runs
    std::optional<std::size_t> again;     // the first run beyond the first
    Fate fate = Fate::neither;
    std::size_t last_forward_read = 0;    // a step; `first` where there is none
    std::size_t first_backward_read = 0;  // a step; the number of steps where there is none
  };
  // Of the call whose storage a value stands on (PinRules::behind).
  const Runs& of(NodeId source) const { return runs_[graph_.position(source)]; }

  // The latest instance of a call's storages that is there when `step` begins and still in it; null
  // where there is none.
  const StorageInstance* alive_before(NodeId source, std::size_t step) const;

 private:
  void find_runs();
  void find_instances();

  const Graph& graph_;
  const Replay& replay_;
  std::vector<Runs> runs_;  // by position
  // By position: a run of instances_, in order of birth.
  std::vector<std::size_t> first_instance_;
  std::vector<std::size_t> instances_;  // into replay_.instances
};

}  // namespace recut

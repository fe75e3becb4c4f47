// An index of a replayed plan by value: where each call runs, the instances of its storages, and
// its first read in backward. A query costs O(1), or O(instances of the call).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/ir/plan.h"
#include "engine/partition/replay.h"

namespace recut {

// The planner's decision on a value between forward and backward.
enum class RematDecision : std::uint8_t {
  saved,       // kept from forward for backward
  recomputed,  // recomputed in backward
  neither,     // only used in its own pass, a result, or an input
};
std::string_view name_of(RematDecision decision);

class PlanIndex {
 public:
  // All must outlive this. Queries are valid after read() returned false.
  PlanIndex(const Graph& graph, const Plan& plan, const Replay& replay);

  // Indexes up to `count` more steps or instances; true if more are left.
  bool read(std::size_t count);

  struct Runs {
    std::size_t first = 0, last_use = 0;  // steps; last_use: of any instance
    std::size_t count = 0;                // 0: the call never runs
    std::optional<std::size_t> again;     // the first recomputation
    RematDecision decision = RematDecision::neither;
    std::size_t last_forward_read = 0;    // a step; `first` if none
    std::size_t first_backward_read = 0;  // a step; the number of steps if none
  };
  // The runs of the call that owns a value's storage (defining_node).
  const Runs& of(NodeId source) const { return runs_[graph_.position(source)]; }

  // The latest instance of a call's storages that is alive before and in `step`; null if none.
  const StorageInstance* alive_before(NodeId source, std::size_t step) const;

 private:
  enum class Reading : std::uint8_t { runs, decisions, instances, none };
  void read_run(std::size_t at);
  void read_decisions();
  void count_instances();
  void place_instance(std::size_t i);

  const Graph& graph_;
  const Plan& plan_;
  const Replay& replay_;
  Reading reading_ = Reading::runs;
  std::size_t next_ = 0;                 // the next step or instance to index
  std::vector<std::size_t> inlined_by_;  // by position: a kernel; during Reading::runs
  std::vector<std::size_t> next_index_;  // by position, into instances_; during Reading::instances
  std::vector<Runs> runs_;               // by position
  // By position: a run of instances_, in order of birth.
  std::vector<std::size_t> first_instance_;
  std::vector<std::size_t> instances_;  // into replay_.instances
};

}  // namespace recut

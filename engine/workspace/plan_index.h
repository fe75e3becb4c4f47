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
  // All must outlive this. Knows nothing until `read` has read all of the plan.
  PlanIndex(const Graph& graph, const Plan& plan, const Replay& replay);

  // Reads so many more steps or instances; whether more are left.
  bool read(std::size_t count);

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
  enum class Reading : std::uint8_t { runs, fates, instances, none };
  void read_run(std::size_t at);
  void read_fates();
  void count_instances();
  void place_instance(std::size_t i);

  const Graph& graph_;
  const Plan& plan_;
  const Replay& replay_;
  Reading reading_ = Reading::runs;
  std::size_t next_ = 0;                 // to read: a step or an instance
  std::vector<std::size_t> inlined_by_;  // by position: a kernel; while runs are read
  std::vector<std::size_t> next_place_;  // by position, in instances_; while these are read
  std::vector<Runs> runs_;               // by position
  // By position: a run of instances_, in order of birth.
  std::vector<std::size_t> first_instance_;
  std::vector<std::size_t> instances_;  // into replay_.instances
};

}  // namespace recut

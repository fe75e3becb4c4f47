// Why a value is saved or recomputed: what either costs, and what would change with the other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/partition/replay.h"
#include "engine/workspace/plan_index.h"
#include "engine/workspace/planning.h"

namespace recut {

struct Reason {
  std::string node;  // the call whose storage the value stands on
  std::string op;
  std::string module;
  std::string type;
  Fate fate = Fate::neither;
  bool by_hand = false;
  std::int64_t bytes = 0;  // of what the call makes

  // Bytes that are alive at the plan's peak if the value is kept from its first run to its last
  // use: 0 where the peak is outside of that.
  std::int64_t saving_bytes = 0;
  std::string peak_at;  // the node that runs at the peak

  // What the other choice adds to the bytes at the peak, all else as it is; below 0: what it frees.
  std::int64_t flip_bytes = 0;

  // One more run for backward, and before it of every input that is no longer there by then or was
  // itself made again.
  double recompute_us = 0;
  double inputs_us = 0;
  std::vector<std::string> inputs;
  std::int64_t extra_runs = 0;  // in this plan

  std::string why_not;  // why there is no other choice; "" where there is one

  bool operator==(const Reason&) const = default;
};

// A plan with the opposite choice, under the same budget.
struct Flip {
  bool holds = false;                 // the budget can be held
  std::int64_t least_peak_bytes = 0;  // where it can't
  std::int64_t peak_bytes = 0;
  std::int64_t saved_bytes = 0;
  double step_us = 0;
  double recompute_us = 0;
};

Flip flip_of(const PlanReport& report);  // of the plan for Reasons::flip_request

// Answers for one plan, value by value. `document` and `planned` must outlive it.
class Reasons {
 public:
  Reasons(const Document& document, const PlanningRequest& request, const Planned& planned);

  Reason of(NodeId id) const;

  // The calls that forward runs and that own bytes: what there is to choose among, in the order of
  // the graph.
  std::vector<NodeId> values() const;

  // What to plan for to have the opposite choice; nothing where the value leaves none.
  std::optional<PlanningRequest> flip_request(NodeId id) const;
  // Plans anew: as slow as planning.
  std::optional<Flip> flip(NodeId id) const;

 private:
  friend class ReasonFinder;
  // Has read nothing of the plan yet.
  Reasons(const Document& document, const PlanningRequest& request, const Planned& planned,
          StorageModel storages, PinRules rules);
  bool read(std::size_t count);  // as PlanIndex has it
  void read_choices_by_hand();
  std::int64_t flip_bytes(NodeId source, const Reason& reason) const;
  void collect_inputs(NodeId source, std::size_t step, std::vector<NodeId>& inputs) const;

  const Document& document_;
  const Graph& graph_;
  const PlanningRequest request_;
  const Planned& planned_;
  const StorageModel storages_;
  const Replay& replay_;
  const PinRules rules_;
  PlanIndex index_;
  std::vector<bool> by_hand_;                // by position
  std::vector<std::int64_t> bytes_at_peak_;  // likewise: of its instances that are alive then
  std::size_t next_ = 0;                     // instance to look at
};

// The same in parts, for those who can't wait for a large graph. What the reasons are made of must
// outlive this and them.
class ReasonFinder {
 public:
  ReasonFinder(const Document& document, const PlanningRequest& request, const Planned& planned);

  // Goes once over the graph's nodes, or on by so many steps of the plan or storages of these;
  // whether more is left.
  bool step(std::size_t count);
  double share() const;  // that is done, 0 … 1
  // Once nothing is left.
  std::unique_ptr<const Reasons> take() { return std::move(reasons_); }

 private:
  const Document& document_;
  const PlanningRequest request_;
  const Planned& planned_;
  std::optional<StorageModel> storages_;
  std::unique_ptr<Reasons> reasons_;
  std::size_t done_ = 0, all_ = 0;  // nodes, steps and storages
};

// A value with what flipping it comes to, for people and for scripts.
struct Explanation {
  Reason reason;
  std::optional<Flip> flip;
};

// Fails where no node has one of the names.
Result<std::vector<Explanation>> explain(const Document& document, const PlanningRequest& request,
                                         const Planned& planned,
                                         const std::vector<std::string>& names);

std::string explanation_text(const Explanation& explanation, const PlanReport& report);

}  // namespace recut

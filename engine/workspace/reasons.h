// Explains why a value is saved or recomputed: the cost of either decision, and the plan under the
// opposite one.
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
  std::string node;  // the call that owns the value's storage
  std::string op;
  std::string module;
  std::string type;
  RematDecision decision = RematDecision::neither;
  bool overridden = false;
  std::int64_t bytes = 0;  // of the call's storages

  // Bytes at the plan's peak if the value is kept from its first run to its last use; 0 if the peak
  // is outside of that span.
  std::int64_t saving_bytes = 0;
  std::string peak_at;  // the node that runs at the peak

  // The change of the bytes at the peak under the opposite decision, all else equal.
  std::int64_t flip_bytes = 0;

  // The cost of one more run for backward, and of recomputing its inputs that are dead by then or
  // recomputed themselves.
  double recompute_us = 0;
  double inputs_us = 0;
  std::vector<std::string> inputs;
  std::int64_t extra_runs = 0;  // in this plan

  std::string why_not;  // why the opposite decision is impossible; "": it is possible

  bool operator==(const Reason&) const = default;
};

// The plan under the opposite decision and the same budget.
struct Flip {
  bool holds = false;               // the budget can be held
  std::int64_t min_peak_bytes = 0;  // if it can't
  std::int64_t peak_bytes = 0;
  std::int64_t saved_bytes = 0;
  double step_us = 0;
  double recompute_us = 0;
};

Flip flip_of(const PlanReport& report);  // of the plan for Reasons::flip_request

// Explains one plan, value by value. `document` and `planned` must outlive this.
class Reasons {
 public:
  Reasons(const Document& document, const PlanningRequest& request, const Planned& planned);

  Reason of(NodeId id) const;

  // The forward calls that own bytes, in the graph's order: the values that a plan decides on.
  std::vector<NodeId> values() const;

  // The request for the opposite decision; nothing if that is impossible.
  std::optional<PlanningRequest> flip_request(NodeId id) const;
  // Plans again: as slow as planning.
  std::optional<Flip> flip(NodeId id) const;

 private:
  friend class ReasonFinder;
  // The plan isn't indexed yet: call read() until it returns false.
  Reasons(const Document& document, const PlanningRequest& request, const Planned& planned,
          StorageModel storages, OverrideRules rules);
  bool read(std::size_t count);  // as PlanIndex::read
  void mark_overrides();
  std::int64_t flip_bytes(NodeId source, const Reason& reason) const;
  void collect_inputs(NodeId source, std::size_t step, std::vector<NodeId>& inputs) const;

  const Document& document_;
  const Graph& graph_;
  const PlanningRequest request_;
  const Planned& planned_;
  const StorageModel storages_;
  const Replay& replay_;
  const OverrideRules rules_;
  PlanIndex index_;
  std::vector<bool> overridden_;             // by position
  std::vector<std::int64_t> bytes_at_peak_;  // by position: of its instances alive at the peak
  std::size_t next_ = 0;                     // the next instance to index
};

// Builds Reasons in steps, so that a window stays responsive on a large graph. The arguments must
// outlive this and the Reasons.
class ReasonFinder {
 public:
  ReasonFinder(const Document& document, const PlanningRequest& request, const Planned& planned);

  // One pass over the graph's nodes, or `count` steps or instances of the plan; true if more is
  // left.
  bool step(std::size_t count);
  double share() const;  // done so far, 0 … 1
  // Call it after the last step.
  std::unique_ptr<const Reasons> take() { return std::move(reasons_); }

 private:
  const Document& document_;
  const PlanningRequest request_;
  const Planned& planned_;
  std::optional<StorageModel> storages_;
  std::unique_ptr<Reasons> reasons_;
  std::size_t done_ = 0, all_ = 0;  // nodes, steps and storages
};

// A value's reason, and the plan under the opposite decision.
struct Explanation {
  Reason reason;
  std::optional<Flip> flip;
};

// Fails on a name that no node has.
Result<std::vector<Explanation>> explain(const Document& document, const PlanningRequest& request,
                                         const Planned& planned,
                                         const std::vector<std::string>& names);

std::string explanation_text(const Explanation& explanation, const PlanReport& report);

}  // namespace recut

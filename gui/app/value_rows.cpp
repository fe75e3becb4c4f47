// The rows of the table of values: what the other choice comes to for each.
#include "engine/partition/pins.h"
#include "engine/workspace/plan_index.h"
#include "gui/app/value_table.h"

namespace recut::gui {

// What flipping one value does at the peak. Saved instead of recomputed it is there from its first
// run to its last use, and the runs that it doesn't need any more are not; recomputed instead of
// saved it is there while forward uses it, and again from where backward first reads it.
class ValueRowsMaker::FlipBytes {
 public:
  explicit FlipBytes(const PlanView& plan)
      : plan_(plan),
        rules_(plan.graph()),
        index_(plan.graph(), rules_, plan.planned.plan, plan.replay),
        alive_(plan.graph().order().size(), 0),
        peak_(plan.replay.peak_step.value_or(0)) {
    for (const StorageInstance& instance : plan.replay.instances)
      if (instance.birth <= peak_ && instance.last_use >= peak_)
        alive_[plan.graph().position(instance.owner)] += instance.bytes;
  }

  std::int64_t of(NodeId id, const Reason& reason) const {
    const std::int64_t now = alive_[plan_.graph().position(id)];
    if (reason.fate == Fate::recomputed) return reason.saving_bytes - now;
    const PlanIndex::Runs& runs = index_.of(id);
    const bool still_read = peak_ >= runs.first_backward_read || in_forward_of(id, runs);
    return still_read ? 0 : -now;
  }

 private:
  // Whether forward itself needs the value at the peak.
  bool in_forward_of(NodeId id, const PlanIndex::Runs& runs) const {
    const auto& steps = plan_.replay.steps;
    if (peak_ >= steps.size() || steps[peak_].phase == Phase::backward) return false;
    if (peak_ <= runs.first) return true;
    // A later step of forward that reads it: the border is far, so look at its readers only.
    for (std::size_t step = peak_; step < steps.size(); ++step) {
      if (steps[step].phase == Phase::backward) return false;
      for (const NodeId operand : plan_.graph()[steps[step].node].operands)
        if (rules_.behind(operand) == id) return true;
    }
    return false;
  }

  const PlanView& plan_;
  const PinRules rules_;
  const PlanIndex index_;
  std::vector<std::int64_t> alive_;  // at the peak, by position
  const std::size_t peak_;
};

ValueRowsMaker::ValueRowsMaker(SharedPlanView plan, std::shared_ptr<const Reasons> reasons)
    : made_(std::make_shared<ValueRows>()),
      values_(reasons->values()),
      flip_(std::make_unique<FlipBytes>(*plan)) {
  made_->reasons = std::move(reasons);
  made_->plan = std::move(plan);
}

ValueRowsMaker::~ValueRowsMaker() = default;

bool ValueRowsMaker::some(std::size_t values) {
  for (; values > 0 && next_ < values_.size(); --values) {
    const NodeId id = values_[next_++];
    const Reason reason = made_->reasons->of(id);
    ValueRow row{id, reason.bytes, 0, 0, false};
    row.has_choice = reason.why_not.empty() && reason.fate != Fate::neither;
    if (row.has_choice) {
      const double micros = reason.recompute_us + reason.inputs_us;
      row.flip_us = reason.fate == Fate::recomputed ? -micros : micros;
      row.flip_bytes = flip_->of(id, reason);
    }
    made_->rows.push_back(row);
    ++made_->counts[static_cast<std::size_t>(made_->role(row))];
  }
  return next_ < values_.size();
}

std::shared_ptr<const ValueRows> ValueRowsMaker::finish() { return std::move(made_); }

std::shared_ptr<const ValueRows> make_value_rows(SharedPlanView plan,
                                                 std::shared_ptr<const Reasons> reasons) {
  ValueRowsMaker maker(std::move(plan), std::move(reasons));
  while (maker.some(1000)) {
  }
  return maker.finish();
}

}  // namespace recut::gui

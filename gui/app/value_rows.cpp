// The rows of the table of values: what the other choice comes to for each.
#include "gui/app/value_table.h"

namespace recut::gui {

ValueRowsMaker::ValueRowsMaker(SharedPlanView plan, std::shared_ptr<const Reasons> reasons)
    : made_(std::make_shared<ValueRows>()), values_(reasons->values()) {
  made_->reasons = std::move(reasons);
  made_->plan = std::move(plan);
}

bool ValueRowsMaker::some(std::size_t values) {
  for (; values > 0 && next_ < values_.size(); --values) {
    const NodeId id = values_[next_++];
    const Reason reason = made_->reasons->of(id);
    ValueRow row{id, reason.bytes, 0, 0, false};
    row.has_choice = reason.why_not.empty() && reason.fate != Fate::neither;
    if (row.has_choice) {
      const double micros = reason.recompute_us + reason.inputs_us;
      row.flip_us = reason.fate == Fate::recomputed ? -micros : micros;
      row.flip_bytes = reason.flip_bytes;
    }
    if (const Kept kept = made_->plan->kept_of(id); kept.storages > 0) row.bytes = kept.bytes;
    made_->rows.push_back(row);
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

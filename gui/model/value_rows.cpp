// The rows of the table of values, with the effect of the opposite choice for each.
#include "engine/ir/aliases.h"
#include "gui/model/value_table.h"

namespace recut::gui {
namespace {

constexpr std::size_t kLooksARow = 8;  // that a row itself costs as much as

}  // namespace

std::int64_t row_bytes(const PlanView& plan, NodeId value) {
  if (const SavedStorages kept = plan.kept_of(value); kept.storages > 0) return kept.bytes;
  std::int64_t bytes = 0;
  for (const StorageId storage : plan.storages->owned(value))
    bytes += (*plan.storages)[storage].bytes;
  return bytes;
}

// The rows in the order of Reasons::values().
std::shared_ptr<const ValueRows> rows_without_prices(SharedPlanView plan) {
  auto made = std::make_shared<ValueRows>();
  const Graph& graph = plan->graph();
  std::vector<bool> ran(graph.order().size(), false), forward = ran;
  for (const PlanStep& step : plan->replay().steps) {
    const std::size_t at = graph.position(step.node);
    if (step.inlined || ran[at]) continue;
    ran[at] = true;
    forward[at] = step.phase == Phase::forward;
  }
  for (const NodeId id : graph.order())
    if (forward[graph.position(id)] && defining_node(graph, id) == id &&
        !plan->storages->owned(id).empty())
      made->rows.push_back({id, row_bytes(*plan, id), 0, 0, false});
  made->plan = std::move(plan);
  return made;
}

ValueRowsMaker::ValueRowsMaker(SharedPlanView plan, std::shared_ptr<const Reasons> reasons)
    : made_(std::make_shared<ValueRows>()), values_(reasons->values()) {
  made_->reasons = std::move(reasons);
  made_->plan = std::move(plan);
}

bool ValueRowsMaker::some(std::size_t looks) {
  for (std::size_t done = 0; done < looks && next_ < values_.size();) {
    const NodeId id = values_[next_++];
    const Reason reason = made_->reasons->of(id);
    done += kLooksARow + reason.inputs.size();
    ValueRow row{id, row_bytes(*made_->plan, id), 0, 0, false};
    row.has_choice = reason.why_not.empty() && reason.decision != RematDecision::neither;
    if (row.has_choice) {
      const double micros = reason.recompute_us + reason.inputs_us;
      row.flip_us = reason.decision == RematDecision::recomputed ? -micros : micros;
      row.flip_bytes = reason.flip_bytes;
    }
    made_->rows.push_back(row);
  }
  return next_ < values_.size();
}

double ValueRowsMaker::share() const {
  return values_.empty() ? 1 : static_cast<double>(next_) / static_cast<double>(values_.size());
}

std::shared_ptr<const ValueRows> ValueRowsMaker::finish() { return std::move(made_); }

std::shared_ptr<const ValueRows> make_value_rows(SharedPlanView plan,
                                                 std::shared_ptr<const Reasons> reasons) {
  ValueRowsMaker maker(std::move(plan), std::move(reasons));
  while (maker.some(SIZE_MAX)) {
  }
  return maker.finish();
}

}  // namespace recut::gui

#include "gui/app/value_table.h"

#include <algorithm>

#include "engine/partition/pins.h"
#include "engine/workspace/plan_index.h"
#include "gui/app/search.h"

namespace recut::gui {
namespace {

constexpr std::string_view kColumns[] = {"name", "module", "bytes", "peak", "time", "order"};

// What flipping one value does at the peak. Saved instead of recomputed it is there from its first
// run to its last use, and the runs that it doesn't need any more are not; recomputed instead of
// saved it is there while forward uses it, and again from where backward first reads it.
class FlipBytes {
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

// Rising; equal ones in the order of the graph, whichever way it goes.
struct Less {
  const ValueRows& rows;
  const Graph& graph;
  ValueColumn column;

  // Below, at or above 0.
  int compare(const ValueRow& a, const ValueRow& b) const {
    const auto of = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
    switch (column) {
      case ValueColumn::name:
        return of(graph.node_name(a.node), graph.node_name(b.node));
      case ValueColumn::module:
        return of(graph.origin(a.node).module, graph.origin(b.node).module);
      case ValueColumn::bytes:
        return of(a.bytes, b.bytes);
      case ValueColumn::flip_bytes:
        return of(a.flip_bytes, b.flip_bytes);
      case ValueColumn::flip_us:
        return of(a.flip_us, b.flip_us);
      case ValueColumn::order:
        return of(graph.position(a.node), graph.position(b.node));
    }
    return 0;
  }
};

}  // namespace

std::shared_ptr<const ValueRows> make_value_rows(SharedPlanView plan,
                                                 std::shared_ptr<const Reasons> reasons) {
  auto made = std::make_shared<ValueRows>();
  made->reasons = std::move(reasons);
  made->plan = std::move(plan);
  const FlipBytes flip(*made->plan);
  for (const NodeId id : made->reasons->values()) {
    const Reason reason = made->reasons->of(id);
    ValueRow row{id, reason.bytes, 0, 0, false};
    row.has_choice = reason.why_not.empty() && reason.fate != Fate::neither;
    if (row.has_choice) {
      const double micros = reason.recompute_us + reason.inputs_us;
      row.flip_us = reason.fate == Fate::recomputed ? -micros : micros;
      row.flip_bytes = flip.of(id, reason);
    }
    made->rows.push_back(row);
    ++made->counts[static_cast<std::size_t>(made->role(row))];
  }
  return made;
}

std::string_view name_of(ValueColumn column) { return kColumns[static_cast<std::size_t>(column)]; }

bool read_column(std::string_view name, ValueColumn& column) {
  for (std::size_t i = 0; i < std::size(kColumns); ++i)
    if (kColumns[i] == name) {
      column = static_cast<ValueColumn>(i);
      return true;
    }
  return false;
}

void ValueTable::arrange(const DocumentView& document) {
  if (!rows) return order.clear();
  const Key key{rows, document.shown, sort, falling, filter};
  if (key == made_of_) return;
  made_of_ = key;
  const Graph& graph = rows->plan->graph();
  std::vector<bool> fits;
  filter_fault.clear();
  if (!filter.empty()) {
    const auto found = search_nodes(document, filter, graph.order().size());
    if (!found) filter_fault = found.diagnostics().front().message;
    if (found) {
      fits.assign(graph.order().size(), false);
      for (const NodeId id : *found) fits[graph.position(id)] = true;
    }
  }
  order.clear();
  for (std::uint32_t i = 0; i < rows->rows.size(); ++i)
    if (fits.empty() || fits[graph.position(rows->rows[i].node)]) order.push_back(i);
  const Less less{*rows, graph, sort};
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int way = less.compare(rows->rows[a], rows->rows[b]);
    return falling ? way > 0 : way < 0;
  });
}

std::size_t ValueTable::place_of(NodeId id) const {
  if (!rows) return order.size();
  const auto at = std::find_if(order.begin(), order.end(),
                               [&](std::uint32_t i) { return rows->rows[i].node == id; });
  return static_cast<std::size_t>(at - order.begin());
}

ValueTable& value_table(DocumentView& document) {
  std::any& slot = document.memories["values"];
  if (!slot.has_value()) slot = ValueTable();
  return std::any_cast<ValueTable&>(slot);
}

void PinnedValues::read(const DocumentView& document) {
  const ChoiceRequest& wanted = document.wishes.pins;
  const Graph& graph = document.graph();
  if (graph_ == &graph && request_.save == wanted.save && request_.recompute == wanted.recompute)
    return;
  graph_ = &graph;
  request_ = wanted;
  const auto choices = read_choices(graph, wanted);
  pins_ = choices ? choices->pins() : Pins();
}

Pinned PinnedValues::of(NodeId id) const {
  const auto holds = [&](const std::vector<NodeId>& ids) {
    return std::any_of(ids.begin(), ids.end(),
                       [&](NodeId pin) { return pin == id || maker_of(*graph_, pin) == id; });
  };
  if (pins_.empty()) return Pinned::no;
  if (holds(pins_.save)) return Pinned::save;
  return holds(pins_.recompute) ? Pinned::recompute : Pinned::no;
}

}  // namespace recut::gui

#include "gui/app/timeline_cursor.h"

#include <algorithm>

#include "engine/ir/aliases.h"
#include "engine/workspace/plan_report.h"

namespace recut::gui {

std::optional<std::size_t> cursor_step(const DocumentView& document, const MemoryView& view) {
  const PlanView& plan = *document.shown;
  const auto& steps = plan.replay().steps;
  const NodeId selected = document.planned_selection();
  const MemoryView::Cursor& cursor = view.cursor;
  if (cursor.plan == document.shown && cursor.selected == selected && cursor.step < steps.size())
    return cursor.step;
  if (!selected.valid()) return std::nullopt;
  for (std::size_t step = 0; step < steps.size(); ++step)
    if (steps[step].node == selected) return step;
  return std::nullopt;
}

void place_cursor(const DocumentView& document, MemoryView& view, std::size_t step) {
  view.cursor = {step, document.planned_selection(), document.shown};
  const std::size_t count = document.shown->replay().steps.size();
  const auto all = static_cast<double>(std::max<std::size_t>(1, count));
  const double at = static_cast<double>(step) / all, end = static_cast<double>(step + 1) / all;
  const double wide = view.to - view.from;
  if (at < view.from) view.show(at - wide * 0.1, at + wide * 0.9, count);
  if (end > view.to) view.show(end - wide * 0.9, end + wide * 0.1, count);
}

std::vector<std::size_t> steps_using(const PlanView& plan, NodeId id) {
  std::vector<std::size_t> found;
  const Graph& graph = plan.graph();
  if (!graph.contains(id)) return found;
  const NodeId maker = defining_node(graph, id);
  const auto& steps = plan.replay().steps;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const NodeId node = steps[step].node;
    bool uses = node == maker;
    // A view of the value reads nothing by itself.
    if (!uses && defining_node(graph, node) != maker)
      for (const NodeId operand : graph[node].operands)
        uses = uses || defining_node(graph, operand) == maker;
    if (uses) found.push_back(step);
  }
  return found;
}

}  // namespace recut::gui

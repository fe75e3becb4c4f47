#include "gui/layout/sides.h"

#include <algorithm>

#include "engine/ir/data_flow.h"

namespace recut::gui::layout {
namespace {

constexpr std::size_t kFewInputs = 8;  // as many inputs stand in the picture; more go to the shelf

// Files call a module's buffers inputs, too, and there may be hundreds: then only those stay in
// the picture that are about as large as the largest, which are the data.
void shelve_inputs(const Graph& graph, std::vector<Side>& side) {
  std::size_t inputs = 0;
  std::int64_t largest = 0;
  for (const NodeId id : graph.inputs()) {
    if (graph.input_kind(id) == InputKind::parameter) side[graph.position(id)] = Side::shelf;
    if (graph.input_kind(id) != InputKind::input) continue;
    ++inputs;
    largest = std::max(largest, byte_size(graph.type(id)));
  }
  if (inputs <= kFewInputs) return;
  std::size_t kept = 0;
  for (const NodeId id : graph.inputs())
    if (graph.input_kind(id) == InputKind::input)
      if (byte_size(graph.type(id)) < largest / 4 || ++kept > kFewInputs)
        side[graph.position(id)] = Side::shelf;
}

}  // namespace

Sides sides_of(const Graph& graph) {
  const std::vector<bool> tangent = needs_tangent(graph);
  const std::vector<bool> claimed = needed_nodes(graph, graph.results);
  const std::size_t count = tangent.size();
  Sides sides{std::vector<Side>(count, Side::forward), std::vector<bool>(count, false)};
  std::size_t border = count;  // where backward begins in the file
  for (std::size_t p = 0; p < count && border == count; ++p)
    if (tangent[p] && !graph.op(graph.order()[p]).is(kInput)) border = p;
  std::size_t forward = 0;
  for (std::size_t p = 0; p < count; ++p) {
    const bool input = graph[graph.order()[p]].op == Op::placeholder;
    sides.floating[p] = !tangent[p] && !claimed[p] && !input && p > border;
    if (tangent[p] || sides.floating[p])
      sides.side[p] = Side::backward;
    else if (!input)
      ++forward;
  }
  shelve_inputs(graph, sides.side);
  if (forward > 0) return sides;
  // Nothing to mirror: one column.
  std::fill(sides.floating.begin(), sides.floating.end(), false);
  for (Side& side : sides.side)
    if (side == Side::backward) side = Side::forward;
  return sides;
}

}  // namespace recut::gui::layout

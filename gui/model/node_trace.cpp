// Nodes across passes: the counterpart of a node in another pass's graph, and every change on the
// way. A node is followed one pass at a time. Onwards, the change that the pass reports for it
// decides, else the same id, else the same name; backwards the same id comes first. Ids of interned
// nodes survive passes that keep them, so most steps are a lookup. A single node costs a scan of
// each pass's changes. trace_nodes indexes them once, so that all nodes together stay linear.
#include "gui/model/node_trace.h"

#include <algorithm>
#include <unordered_map>

#include "engine/ir/aliases.h"
#include "engine/ir/printer.h"

namespace recut::gui {
namespace {

NodeId by_name(const Graph& from, NodeId id, const Graph& to) {
  return to.find(from.node_name(id));
}

const Change* change_of(const PassReport& report, NodeId before) {
  const auto found = std::find_if(report.changes.begin(), report.changes.end(),
                                  [&](const Change& change) { return change.before == before; });
  return found == report.changes.end() ? nullptr : &*found;
}

using Changes = std::vector<const Change*>;

// Nodes that leave `after`, in their order.
Changes changes_to(const PassReport& report, NodeId after) {
  Changes changes;
  for (const Change& change : report.changes)
    if (std::find(change.after.begin(), change.after.end(), after) != change.after.end())
      changes.push_back(&change);
  return changes;
}

// The change that made `after`: of a node of the same name, if there is one.
const Change* defining_node(const PassReport& report, const Graph& before, NodeId after,
                            const Changes& changes) {
  for (const Change* change : changes)
    if (before.contains(change->before) &&
        before.node_name(change->before) == report.graph.node_name(after))
      return change;
  return changes.empty() ? nullptr : changes.front();
}

// An index of a pass's changes by node. It is only looked up, never iterated, so hashing is
// deterministic.
struct ChangeIndex {
  explicit ChangeIndex(const PassReport& report) {
    for (const Change& change : report.changes) {
      taken.emplace(change.before.index, &change);
      for (const NodeId after : change.after) made[after.index].push_back(&change);
    }
  }
  const Change* of(NodeId before) const {
    const auto found = taken.find(before.index);
    return found == taken.end() ? nullptr : found->second;
  }
  Changes to(NodeId after) const {
    const auto found = made.find(after.index);
    return found == made.end() ? Changes() : found->second;
  }
  std::unordered_map<std::uint32_t, const Change*> taken;  // the first of each node
  std::unordered_map<std::uint32_t, Changes> made;
};

// `change`: removes the node; null if none does.
NodeId step_on(const PassReport& report, const Graph& before, NodeId id, const Change* change) {
  const Graph& after = report.graph;
  if (change != nullptr) {
    for (const NodeId heir : change->after)
      if (after.contains(heir)) return heir;
    if (change->after.empty()) return {};
  }
  return after.contains(id) ? id : by_name(before, id, after);
}

// `change`: made the node; null if none did.
NodeId step_back(const PassReport& report, const Graph& before, NodeId id, const Change* change) {
  if (before.contains(id)) return id;
  if (change != nullptr && before.contains(change->before)) return change->before;
  return by_name(report.graph, id, before);
}

std::string line_of(const Graph& graph, NodeId id) {
  return graph.contains(id) ? print_node(graph, id) : std::string();
}

}  // namespace

const Graph& graph_after(const PipelineReport& passes, std::size_t pass) {
  if (pass == 0 || passes.passes.empty()) return passes.input;
  return passes.passes[std::min(pass, passes.passes.size()) - 1].graph;
}

NodeId trace_node(const PipelineReport& passes, NodeId id, std::size_t from, std::size_t to) {
  if (!graph_after(passes, from).contains(id)) return {};
  for (; from < to && id.valid(); ++from)
    id = step_on(passes.passes[from], graph_after(passes, from), id,
                 change_of(passes.passes[from], id));
  for (; from > to && id.valid(); --from) {
    const PassReport& report = passes.passes[from - 1];
    const Graph& before = graph_after(passes, from - 1);
    id = step_back(report, before, id, defining_node(report, before, id, changes_to(report, id)));
  }
  return id;
}

std::vector<NodeId> trace_nodes(const PipelineReport& passes, std::size_t from, std::size_t to) {
  const auto order = graph_after(passes, from).order();
  std::vector<NodeId> ids(order.begin(), order.end());
  for (; from < to; ++from) {
    const PassReport& report = passes.passes[from];
    const ChangeIndex changes(report);
    for (NodeId& id : ids)
      if (id.valid()) id = step_on(report, graph_after(passes, from), id, changes.of(id));
  }
  for (; from > to; --from) {
    const PassReport& report = passes.passes[from - 1];
    const Graph& before = graph_after(passes, from - 1);
    const ChangeIndex changes(report);
    for (NodeId& id : ids)
      if (id.valid())
        id = step_back(report, before, id, defining_node(report, before, id, changes.to(id)));
  }
  return ids;
}

std::vector<NodeEvent> node_history(const PipelineReport& passes, NodeId id, std::size_t pass) {
  std::vector<NodeEvent> events;
  // Walks back to the first pass whose graph has the node.
  for (NodeId before = id; pass > 0; --pass, id = before) {
    before = trace_node(passes, id, pass, pass - 1);
    if (!before.valid()) break;
  }
  if (!graph_after(passes, pass).contains(id)) return events;
  events.push_back({pass, id, "", line_of(graph_after(passes, pass), id)});
  for (; pass < passes.passes.size() && id.valid(); ++pass) {
    const Change* change = change_of(passes.passes[pass], id);
    const NodeId next = trace_node(passes, id, pass, pass + 1);
    std::string line = line_of(passes.passes[pass].graph, next);
    if (change != nullptr || !next.valid() || line != events.back().line)
      events.push_back(
          {pass + 1, next, std::string(change != nullptr ? change->rule : ""), std::move(line)});
    id = next;
  }
  return events;
}

std::vector<NodeId> changed_together(const PipelineReport& passes, NodeId id, std::size_t pass) {
  std::vector<NodeId> together;
  if (!id.valid() || pass == 0 || pass > passes.passes.size()) return together;
  const PassReport& report = passes.passes[pass - 1];
  for (const Change& change : report.changes) {
    const bool made = std::find(change.after.begin(), change.after.end(), id) != change.after.end();
    if (!made && change.before != id) continue;
    together.push_back(change.before);
    for (const NodeId after : change.after)
      if (after != change.before) together.push_back(after);
    break;
  }
  std::erase_if(together, [&](NodeId node) { return !report.graph.contains(node); });
  return together;
}

std::vector<std::size_t> pass_stops(const PipelineReport& passes) {
  std::vector<std::size_t> stops{0};
  for (std::size_t i = 0; i < passes.passes.size(); ++i)
    if (passes.passes[i].changed || i + 1 == passes.passes.size()) stops.push_back(i + 1);
  return stops;
}

}  // namespace recut::gui

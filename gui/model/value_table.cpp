#include "gui/model/value_table.h"

#include <algorithm>

#include "engine/ir/aliases.h"
#include "engine/partition/overrides.h"
#include "gui/model/search.h"

namespace recut::gui {
namespace {

constexpr std::string_view kColumns[] = {"name", "module", "bytes", "peak", "time", "order"};

// Sorts rows in rising order; equal rows in the order of the graph in either direction.
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

std::string_view name_of(ValueColumn column) { return kColumns[static_cast<std::size_t>(column)]; }

bool read_column(std::string_view name, ValueColumn& column) {
  for (std::size_t i = 0; i < std::size(kColumns); ++i)
    if (kColumns[i] == name) {
      column = static_cast<ValueColumn>(i);
      return true;
    }
  return false;
}

bool ValueTable::is_current(const DocumentView& document) const {
  if (!rows) return false;
  return document.reasons ? rows->reasons == document.reasons : rows->plan == document.shown;
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
    const int sign = less.compare(rows->rows[a], rows->rows[b]);
    return falling ? sign > 0 : sign < 0;
  });
}

std::size_t ValueTable::row_index(NodeId id) const {
  if (!rows) return order.size();
  const auto at = std::find_if(order.begin(), order.end(),
                               [&](std::uint32_t i) { return rows->rows[i].node == id; });
  return static_cast<std::size_t>(at - order.begin());
}

ValueTable& value_table(DocumentView& document) {
  return memory_of<ValueTable>(document.memories, kValuesMemory);
}

void ValueOverrides::read(const DocumentView& document) {
  const OverrideRequest& requested = document.plan_settings.overrides;
  const Graph& graph = document.graph();
  if (graph_ == &graph && request_ == requested) return;
  graph_ = &graph;
  request_ = requested;
  const auto choices = resolve_overrides(graph, requested);
  overrides_ = choices ? choices->overrides() : Overrides();
}

OverrideKind ValueOverrides::of(NodeId id) const {
  const auto holds = [&](const std::vector<NodeId>& ids) {
    return std::any_of(ids.begin(), ids.end(), [&](NodeId node) {
      return node == id || defining_node(*graph_, node) == id;
    });
  };
  if (overrides_.empty()) return OverrideKind::no;
  if (holds(overrides_.save)) return OverrideKind::save;
  return holds(overrides_.recompute) ? OverrideKind::recompute : OverrideKind::no;
}

}  // namespace recut::gui

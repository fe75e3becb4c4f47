#include "gui/model/other_graph.h"

#include <algorithm>
#include <optional>

#include "gui/model/node_trace.h"
#include "gui/model/pass_steps.h"
#include "gui/model/saved_document.h"
#include "gui/model/value_table.h"

namespace recut::gui {
namespace {

bool runs(const std::vector<PassReport>& passes, const std::string& name) {
  return std::any_of(passes.begin(), passes.end(),
                     [&](const PassReport& pass) { return pass.name == name && !pass.skipped; });
}

std::size_t pass_to_show(const DocumentView& before, const Document& after) {
  const auto& old = before.document->passes.passes;
  const auto& passes = after.passes.passes;
  if (after.frozen && !before.document->frozen) return passes.size();  // the fold of the weights
  for (std::size_t i = 0; i < passes.size(); ++i)
    if (!passes[i].skipped && !runs(old, passes[i].name)) return i + 1;
  if (before.pass == 0) return 0;
  if (before.pass < old.size())
    for (std::size_t i = 0; i < passes.size(); ++i)
      if (passes[i].name == old[before.pass - 1].name) return i + 1;
  return passes.size();
}

// Drops panel memory about a graph's nodes; scroll, zoom, the memory snapshot, the file's graphs,
// its traced sizes and the compared meshes stay.
void forget_memories(DocumentView& document) {
  PanelMemory kept;
  for (const std::string_view name :
       {kSavedView, std::string_view("transforms"), std::string_view("memory-view"),
        std::string_view("measured"), std::string_view("graphs of the file"),
        std::string_view("traced sizes"), std::string_view("meshes")})
    if (const auto found = document.memories.find(name); found != document.memories.end())
      kept.insert(*found);
  ValueTable table;
  if (const auto* old = find_memory<ValueTable>(document.memories, kValuesMemory)) {
    table.sort = old->sort;
    table.falling = old->falling;
    table.filter = old->filter;
  }
  document.memories = std::move(kept);
  memory_of<ValueTable>(document.memories, kValuesMemory) = std::move(table);
}

void forget_graph(DocumentView& document) {
  forget_memories(document);
  document.known.clear();
  document.curve = nullptr;
  document.shown = document.refused = document.weighed = nullptr;
  document.baseline = {};
  document.answered = document.before = {};
  document.change = nullptr;
  document.reasons = nullptr;
  document.selection = {};
  document.anchor = {};
  Search search;
  search.text = document.search.text;
  document.search = std::move(search);
  document.transform_faults.clear();
  document.plan_due = -1;
}

// Looks in the shown graph, then in the last one, then in the graph as read.
void select_by_name(DocumentView& document, const std::string& name) {
  if (name.empty()) return;
  const PipelineReport& passes = document.document->passes;
  for (const std::size_t pass : {document.pass, passes.passes.size(), std::size_t{0}}) {
    const NodeId id = graph_after(passes, pass).find(name);
    if (id.valid()) return select_in_pass(document, id, pass);
  }
}

// Drops overrides that the graph can't take, and keeps the others. Returns the dropped ones.
std::string drop_overrides(const Graph& graph, OverrideRequest& overrides) {
  std::string dropped;
  const auto sift = [&](std::vector<std::string>& names, bool save) {
    std::vector<std::string> good;
    for (const std::string& name : names) {
      OverrideRequest one;
      one.ignore_checkpoints = true;
      (save ? one.save : one.recompute).push_back(name);
      if (resolve_overrides(graph, one))
        good.push_back(name);
      else
        dropped += (dropped.empty() ? "" : ", ") + name;
    }
    names = std::move(good);
  };
  sift(overrides.save, true);
  sift(overrides.recompute, false);
  return dropped;
}

}  // namespace

std::string move_to_graph(DocumentView& document, const Document& after,
                          const std::function<void()>& install) {
  const std::string selected = document.selected_name();
  const std::size_t pass = pass_to_show(document, after);
  forget_graph(document);
  install();
  document.pass = pass;
  select_by_name(document, selected);
  const std::string dropped = drop_overrides(document.graph(), document.plan_settings.overrides);
  return dropped.empty() ? "" : "Overrides of nodes that this graph lacks were dropped: " + dropped;
}

}  // namespace recut::gui

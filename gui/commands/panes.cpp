// Commands of the comparison in two panes of the graph panel, and steps from difference to
// difference.
#include <fmt/core.h>

#include "gui/app/app.h"
#include "gui/app/conditions.h"
#include "gui/app/panes_view.h"
#include "gui/canvas/pane_link.h"
#include "gui/model/pass_steps.h"

namespace recut::gui {
namespace {

bool are_shown(const App& app) { return app.has_ready() && has_panes(*app.document()); }
bool are_compared(const App& app) {
  return are_shown(app) && app.overlay.empty() &&
         find_panes_view(*app.document())->comparison != nullptr;
}

// The memory of the panes is dropped: it may hold a document that is closed.
void leave(App& app) {
  DocumentView& document = *app.document();
  app.jobs.cancel(panes_view(document).job);
  app.jobs.cancel(canvas_of(document.memories, Pane::there).job);
  for (const std::string_view name : {kPanesMemory, kCanvasThere, kLinkMemory, kPointerThere})
    if (const auto found = document.memories.find(name); found != document.memories.end())
      document.memories.erase(found);
}

// With an argument: these two, in place of the former comparison.
Result<Done> panes(App& app, std::string_view with) {
  PanesView& view = panes_view(*app.document());
  if (!with.empty()) {
    const Result<Done> done = app.run("compare.with", with);
    if (!done) return done;
  }
  if (view.requested && with.empty()) {
    leave(app);
    return Done{};
  }
  view.fresh = !view.requested;
  view.requested = true;
  return app.run("panel.show", "graph");
}

Result<Done> prepare_panes(App& app, std::string_view) {
  start_comparison(app, *app.document());
  return Done{};
}

// A node of the graph there; here its partner, or nothing.
Result<Done> select_there(App& app, std::string_view name) {
  DocumentView& document = *app.document();
  PanesView& view = panes_view(document);
  const NodeId node = view.comparison->there.shown.graph().find(name);
  if (!node.valid()) return error("no node '" + std::string(name) + "' there");
  select_in_pass(document, view.comparison->there.partner(node), document.pass);
  view.there = node;
  view.there_for = document.selection.node;
  ++view.selections_there;
  return Done{};
}

Result<Done> hover_there(App& app, std::string_view name) {
  DocumentView& document = *app.document();
  PanesView& view = panes_view(document);
  view.hovered_there = view.comparison->there.shown.graph().find(name);
  document.selection.hovered = view.comparison->there.partner(view.hovered_there);
  return Done{};
}

template <int by>
Result<Done> step_panes(App& app, std::string_view) {
  const DocumentView& document = *app.document();
  const Comparison& comparison = *find_panes_view(document)->comparison;
  const auto next = neighbour_step(*find_panes_view(document), document, by);
  if (!next) return error("the two are the same, node by node");
  const ComparisonStep& to = comparison.steps[*next];
  if (to.here.valid())
    return app.run("select.node", comparison.here.shown.graph().node_name(to.here));
  return select_there(app, comparison.there.shown.graph().node_name(to.there));
}

constexpr Command kPanesRows[] = {
    {"compare.panes", "Compare side by side, in two panes", "c",
     "unplanned, baseline, torch 0.5, document 2 or pass 0", has_plan, panes},
    {"compare.next", "Next difference of the two graphs", "d", "", are_compared, step_panes<1>},
    {"compare.previous", "Previous difference of the two graphs", "Shift+D", "", are_compared,
     step_panes<-1>},
    {"compare.prepare", "", "", "", are_shown, prepare_panes},
    {"compare.select", "", "", "a node's name there", are_compared, select_there},
    {"compare.hover", "", "", "a name there, or nothing", are_compared, hover_there},
};

}  // namespace

std::span<const Command> panes_commands() { return kPanesRows; }

}  // namespace recut::gui

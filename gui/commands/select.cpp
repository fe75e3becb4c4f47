// Commands of the selection, and of the shown pass.
#include <algorithm>
#include <charconv>

#include "gui/app/app.h"
#include "gui/app/conditions.h"
#include "gui/app/panes_view.h"
#include "gui/model/node_trace.h"
#include "gui/model/pass_steps.h"
#include "gui/model/search.h"

namespace recut::gui {
namespace {

bool select_has_selection(const App& app) {
  return is_ready(app) && app.overlay.empty() && app.document()->selection.node.valid();
}
// True if a node is selected, here or in the other pane.
bool has_any_selection(const App& app) {
  if (select_has_selection(app)) return true;
  const PanesView* panes = is_ready(app) ? find_panes_view(*app.document()) : nullptr;
  return panes != nullptr && app.overlay.empty() && panes->there.valid();
}

// Selects a node of the last graph, which panels about the plan name, whichever graph is shown.
void select_planned(DocumentView& document, NodeId id) {
  select_in_pass(document, id, document.document->passes.passes.size());
}

Result<Done> select(App& app, std::string_view name) {
  DocumentView& document = *app.document();
  const NodeId here = document.graph_at_pass().find(name);
  if (here.valid()) {
    select_in_pass(document, here, document.pass);
    return Done{};
  }
  const NodeId planned = document.find(std::string(name));
  if (!planned.valid() && !name.empty()) return error("no node '" + std::string(name) + "'");
  select_planned(document, planned);
  return Done{};
}

// The node under the pointer, in any panel; reported when it changes.
Result<Done> hover(App& app, std::string_view name) {
  DocumentView& document = *app.document();
  const NodeId here = document.graph_at_pass().find(name);
  document.selection.hovered = here.valid() ? here : document.find(std::string(name));
  return Done{};
}

Result<Done> clear(App& app, std::string_view) {
  select_planned(*app.document(), NodeId());
  app.document()->selection.hovered = {};
  if (has_panes(*app.document())) panes_view(*app.document()).there = {};
  return Done{};
}

Result<Done> find_select(App& app, std::string_view text) {
  if (text.empty()) {
    app.items.keyboard_for = "bar/search";
    return Done{};
  }
  DocumentView& document = *app.document();
  document.search = search_document(document, text);
  if (!document.search.fault.empty()) return error(document.search.fault);
  if (document.search.best.empty()) return error("nothing fits '" + std::string(text) + "'");
  select_in_pass(document, document.search.best.front(), document.pass);
  return Done{};
}

// Runs with each typed letter: all panels know the matches.
Result<Done> set_search(App& app, std::string_view text) {
  DocumentView& document = *app.document();
  document.search = search_document(document, text);
  return Done{};
}

template <int by>
Result<Done> step_match(App& app, std::string_view) {
  DocumentView& document = *app.document();
  if (is_stale(document.search, document))
    document.search = search_document(document, document.search.text);
  const NodeId next =
      document.search.neighbour(document.selection.node, document.graph_at_pass(), by);
  if (!next.valid()) return error("nothing fits '" + document.search.text + "'");
  return app.run("select.node", document.graph_at_pass().node_name(next));
}

bool has_search(const App& app) { return is_ready(app) && !app.document()->search.text.empty(); }

// A number, 0 for the graph as read, or a pass's name: the first time that it runs.
std::optional<std::size_t> pass_index(const PipelineReport& report, std::string_view text) {
  const auto& passes = report.passes;
  const auto named = std::find_if(passes.begin(), passes.end(),
                                  [&](const PassReport& pass) { return pass.name == text; });
  if (named != passes.end()) return static_cast<std::size_t>(named - passes.begin()) + 1;
  std::size_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size() || number > passes.size())
    return std::nullopt;
  return number;
}

Result<Done> set_pass(App& app, std::string_view text) {
  DocumentView& document = *app.document();
  const auto index = pass_index(document.document->passes, text);
  if (!index) return error("no pass '" + std::string(text) + "'");
  show_pass(document, *index);
  return Done{};
}

// Goes to the next pass that changed something.
template <int by>
Result<Done> step_pass(App& app, std::string_view) {
  DocumentView& document = *app.document();
  const std::vector<std::size_t> stops = pass_stops(document.document->passes);
  if (by > 0) {
    const auto next = std::upper_bound(stops.begin(), stops.end(), document.pass);
    if (next != stops.end()) show_pass(document, *next);
  } else {
    const auto here = std::lower_bound(stops.begin(), stops.end(), document.pass);
    if (here != stops.begin()) show_pass(document, *(here - 1));
  }
  return Done{};
}

Result<Done> first_pass(App& app, std::string_view) {
  show_pass(*app.document(), 0);
  return Done{};
}
Result<Done> last_pass(App& app, std::string_view) {
  DocumentView& document = *app.document();
  show_pass(document, document.document->passes.passes.size());
  return Done{};
}

// A node as another pass knows it; the shown pass stays.
Result<Done> select_at(App& app, std::string_view argument) {
  DocumentView& document = *app.document();
  const std::size_t blank = std::min(argument.find(' '), argument.size());
  const auto index = pass_index(document.document->passes, argument.substr(0, blank));
  if (!index) return error("no pass '" + std::string(argument.substr(0, blank)) + "'");
  const std::string_view name = argument.substr(std::min(blank + 1, argument.size()));
  const NodeId id = graph_after(document.document->passes, *index).find(name);
  if (!id.valid()) return error("no node '" + std::string(name) + "'");
  select_in_pass(document, id, *index);
  return Done{};
}

Result<Done> copy_name(App& app, std::string_view) {
  app.backend.set_clipboard(app.document()->selected_name());
  app.say("Copied " + app.document()->selected_name());
  return Done{};
}

constexpr std::string_view kPasses = "transforms";
constexpr Command kSelectRows[] = {
    {"select.node", "Select a value", "", "its name", is_ready, select},
    {"select.at", "Select a node of another pass", "",
     "a pass's number or name, a blank, the node's name", is_ready, select_at},
    {"select.hover", "", "", "a name, or nothing", is_ready, hover},
    {"select.clear", "Select nothing", "Escape", "", has_any_selection, clear},
    {"select.copy", "Copy the selected name", "Ctrl+Shift+C", "", select_has_selection, copy_name},
    {"search.find", "Search nodes, modules, bytes", "/ Ctrl+F", "", is_ready, find_select},
    {"search.set", "", "", "what to search for", is_ready, set_search},
    {"search.next", "Next match", "F3 Ctrl+G", "", has_search, step_match<1>},
    {"search.previous", "Previous match", "Shift+F3", "", has_search, step_match<-1>},
    {"pass.set", "Show the graph after a pass", "", "its number, 0 as read, or its name", is_ready,
     set_pass},
    {"pass.next", "Next pass that changed something", "n", "", is_ready, step_pass<1>},
    {"pass.previous", "Previous pass that changed something", "b", "", is_ready, step_pass<-1>},
    {"pass.later", "Later pass", "RightArrow DownArrow PageDown", "", is_ready, step_pass<1>,
     kPasses},
    {"pass.earlier", "Earlier pass", "LeftArrow UpArrow PageUp", "", is_ready, step_pass<-1>,
     kPasses},
    {"pass.first", "The graph as read", "Home", "", is_ready, first_pass, kPasses},
    {"pass.last", "The graph that is planned", "End", "", is_ready, last_pass, kPasses},
};

}  // namespace

std::span<const Command> select_commands() { return kSelectRows; }

}  // namespace recut::gui

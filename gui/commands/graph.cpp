// Commands of the canvas: open and closed groups, the focus, the camera, steps along edges.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "gui/app/app.h"
#include "gui/app/condition.h"
#include "gui/app/conditions.h"
#include "gui/app/panes_view.h"
#include "gui/canvas/box_labels.h"
#include "gui/canvas/canvas.h"
#include "gui/canvas/walk.h"

namespace recut::gui {
namespace {

constexpr std::uint32_t kMaxRadius = 12;
constexpr double kZoomStep = 1.35;

Canvas& canvas(App& app) { return canvas_of(app.document()->memories); }
// The canvas, read only.
const Canvas& canvas(const App& app) {
  return canvas_of(const_cast<App&>(app).document()->memories);
}

bool graph_is_there(const App& app) {
  return app.has_ready() && app.overlay.empty() && canvas(app).picture != nullptr;
}
bool graph_has_selection(const App& app) {
  return graph_is_there(app) && app.document()->selection.node.valid();
}
bool is_focused(const App& app) { return graph_is_there(app) && canvas(app).focus.node.valid(); }

NodeId selected(const App& app) { return app.document()->selection.node; }

layout::BoxId selected_box(App& app) { return canvas(app).picture->box(selected(app)); }

Result<Done> lay_out(App& app, std::string_view pane) {
  DocumentView& document = *app.document();
  if (pane != "there") {
    start_picture(app, document, Pane::here, shown_graph(document), selected(app));
  } else if (const auto there = graph_there(app, document)) {
    start_picture(app, document, Pane::there, *there,
                  selected_there(panes_view(document), document));
  }
  return Done{};
}

Result<Done> reveal(App& app, std::string_view pane) {
  DocumentView& document = *app.document();
  if (pane == "there")
    reveal_node(canvas_of(document.memories, Pane::there),
                selected_there(panes_view(document), document));
  else
    reveal_node(canvas(app), selected(app));
  return Done{};
}

// Camera.

Result<Done> fit_selection(App& app, std::string_view) {
  const layout::BoxId box = selected_box(app);
  if (!box.valid()) return error("what is selected isn't in this graph");
  fit_rect(canvas(app), canvas(app).picture->layout.boxes[box.index].rect.grown(layout::kPitch),
           kNear);
  return Done{};
}

// Brings all the named nodes into view at once.
Result<Done> bring(App& app, std::string_view names) {
  const auto tokens = split_quoted(names);
  if (!tokens) return tokens.diagnostics();
  const Picture& picture = *canvas(app).picture;
  std::optional<layout::Rect> all;
  for (const std::string& name : *tokens) {
    const NodeId node = picture.graph().find(name);
    const layout::BoxId box = node.valid() ? picture.box(node) : layout::BoxId();
    if (!box.valid()) return error("no node '" + name + "' is shown");
    const layout::Rect& rect = picture.layout.boxes[box.index].rect;
    all = all ? all->united(rect) : rect;
  }
  if (all) fit_rect(canvas(app), all->grown(layout::kPitch), kNear);
  return Done{};
}

// Fits everything; a second time, the selection.
Result<Done> fit_everything(App& app, std::string_view) {
  Canvas& c = canvas(app);
  if (c.fitted && graph_has_selection(app) && selected_box(app).valid())
    return fit_selection(app, {});
  fit_all(c);
  return Done{};
}

const layout::Group* find_group(const Canvas& c, std::string_view key) {
  const std::uint64_t requested = std::strtoull(std::string(key).c_str(), nullptr, 10);
  for (const layout::Group& group : c.picture->scene->groups)
    if (group.key == requested) return &group;
  return nullptr;
}

Result<Done> fit_group(App& app, std::string_view key) {
  Canvas& c = canvas(app);
  const layout::Group* group = find_group(c, key);
  if (group == nullptr) return error("no such group");
  const auto index = static_cast<std::uint32_t>(group - c.picture->scene->groups.data());
  fit_rect(c, bounds_of(*c.picture, layout::GroupId(index)), 1);
  return Done{};
}

template <bool nearer>
Result<Done> step_zoom(App& app, std::string_view) {
  Canvas& c = canvas(app);
  Camera to = c.camera;
  to.zoom = std::clamp(nearer ? to.zoom * kZoomStep : to.zoom / kZoomStep,
                       least_zoom(c.picture->layout.bounds), kMaxZoom);
  fly(c, to);
  return Done{};
}

Result<Done> set_zoom(App& app, std::string_view percent) {
  const double requested = std::strtod(std::string(percent).c_str(), nullptr) / 100;
  if (!(requested >= kMinZoom && requested <= kMaxZoom)) return error("a zoom is 1 to 600 percent");
  Camera to = canvas(app).camera;
  to.zoom = std::max(requested, least_zoom(canvas(app).picture->layout.bounds));
  fly(canvas(app), to);
  return Done{};
}

// Groups.

// The canvas beside this one; null where there is one pane.
Canvas* canvas_there(App& app) {
  if (!has_panes(*app.document())) return nullptr;
  Canvas& there = canvas_of(app.document()->memories, Pane::there);
  return there.picture != nullptr ? &there : nullptr;
}

// A group of the graph here, else of the one beside it. A group that opens in one opens in the
// other.
Result<Done> toggle_graph(App& app, std::string_view key) {
  if (canvas(app).focus.node.valid()) return error("in a neighbourhood all groups are open");
  for (Canvas* c : {&canvas(app), canvas_there(app)}) {
    const layout::Group* group = c != nullptr ? find_group(*c, key) : nullptr;
    if (group == nullptr) continue;
    set_open(*c, *group, !c->picture->expansion.is_open(*group));
    return Done{};
  }
  return error("no such group");
}

template <bool open>
Result<Done> all_groups(App& app, std::string_view) {
  Canvas& c = canvas(app);
  if (c.focus.node.valid()) return error("in a neighbourhood all groups are open");
  c.expansion = layout::Expansion();
  c.expansion->all = false;
  for (const Canvas* one : {&c, canvas_there(app)})
    if (open && one != nullptr)
      for (const layout::Group& group : one->picture->whole->groups) c.expansion->set(group, true);
  ++c.expansion_changes;
  return Done{};
}

Result<Done> first_groups(App& app, std::string_view) {
  Canvas& c = canvas(app);
  c.expansion = layout::default_expansion(*c.picture->whole);
  ++c.expansion_changes;
  return Done{};
}

// Opens the selected closed group, or closes the group around the selected node.
Result<Done> toggle_selected(App& app, std::string_view) {
  Canvas& c = canvas(app);
  const layout::BoxId box = selected_box(app);
  if (!box.valid()) return error("what is selected isn't in this graph");
  const layout::Group& group = c.picture->group(c.picture->layout.boxes[box.index]);
  if (!group.parent.valid()) return error("what is selected is in no group");
  const Result<Done> done = toggle_graph(app, std::to_string(group.key));
  c.anchor = selected(app);
  return done;
}

// The neighbourhood.

// Shows the neighbourhood of the selection; a step wider if it is shown already.
Result<Done> focus(App& app, std::string_view radius) {
  Canvas& c = canvas(app);
  const NodeId node = selected(app);
  if (c.picture->whole->find(node) == layout::Scene::kNone)
    return error("what is selected isn't in this graph");
  std::uint32_t requested = c.focus.radius;
  if (!radius.empty())
    requested = static_cast<std::uint32_t>(std::strtoul(std::string(radius).c_str(), nullptr, 10));
  else if (c.focus.node == node)
    ++requested;
  c.focus = {node, std::min(kMaxRadius, std::max(1u, requested))};
  c.anchor = node;
  return Done{};
}

template <int by>
Result<Done> step_radius(App& app, std::string_view) {
  Focus& now = canvas(app).focus;
  const int requested = static_cast<int>(now.radius) + by;
  now.radius =
      static_cast<std::uint32_t>(std::min(static_cast<int>(kMaxRadius), std::max(1, requested)));
  canvas(app).anchor = now.node;
  return Done{};
}

Result<Done> leave_focus(App& app, std::string_view) {
  Canvas& c = canvas(app);
  const NodeId node = c.focus.node;
  c.anchor = node;
  c.focus.node = {};
  if (c.expansion) layout::reveal(*c.picture->whole, node, *c.expansion);
  ++c.expansion_changes;
  c.wants_visible = selected(app).valid();
  return Done{};
}

// Steps.

Result<Done> select_box(App& app, layout::BoxId id) {
  Canvas& c = canvas(app);
  const layout::Box& box = c.picture->layout.boxes[id.index];
  const NodeId node = node_of(*c.picture, box);
  c.own = node;  // a closed group stays closed
  bring_into_view(c, box.rect);
  return app.run("select.node", c.picture->graph().node_name(node));
}

template <WalkDirection direction>
Result<Done> walk_graph(App& app, std::string_view) {
  const Canvas& c = canvas(app);
  if (c.picture->layout.boxes.empty()) return Done{};
  const layout::BoxId from = selected(app).valid() ? selected_box(app) : layout::BoxId();
  if (!from.valid()) {
    const layout::BoxId near = layout::hit_box(c.picture->layout, c.view().under(c.area.centre()));
    return select_box(app, near.valid() ? near : layout::BoxId(0));
  }
  const layout::BoxId to = step(*c.picture, from, direction);
  return to.valid() ? select_box(app, to) : Result<Done>(Done{});
}

// In program order.
template <int by>
Result<Done> step_order(App& app, std::string_view) {
  const Graph& graph = canvas(app).picture->graph();
  const auto order = graph.order();
  if (order.empty()) return Done{};
  const NodeId now = selected(app);
  std::size_t next = by > 0 ? 0 : order.size() - 1;
  if (now.valid() && graph.contains(now))
    next = (graph.position(now) + order.size() + static_cast<std::size_t>(by)) % order.size();
  return app.run("select.node", graph.node_name(order[next]));
}

constexpr Command kGraphRows[] = {
    {"graph.lay_out", "", "", "here or there", is_ready, lay_out},
    {"graph.reveal", "", "", "here or there", graph_is_there, reveal},
    {"graph.leave_focus", "Back to the whole graph", "Escape", "", is_focused, leave_focus},
    {"graph.fit", "Fit the graph; again: the selection", "f Space", "", graph_is_there,
     fit_everything, "graph"},
    {"graph.fit_selection", "Fit the selection", "Shift+F", "", graph_has_selection, fit_selection},
    {"graph.bring", "", "", "names of nodes", graph_is_there, bring},
    {"graph.fit_group", "", "", "a group's key", graph_is_there, fit_group},
    {"graph.zoom_in", "Nearer", "+ =", "", graph_is_there, step_zoom<true>, "graph"},
    {"graph.zoom_out", "Further away", "-", "", graph_is_there, step_zoom<false>, "graph"},
    {"graph.zoom", "Set the zoom of the graph", "", "percent", graph_is_there, set_zoom},
    {"graph.toggle", "", "", "a group's key", graph_is_there, toggle_graph},
    {"graph.expand", "Open or close the selected group", "e", "", graph_has_selection,
     toggle_selected},
    {"graph.expand_all", "Expand all groups", "Shift+E", "", graph_is_there, all_groups<true>},
    {"graph.collapse_all", "Collapse all groups", "Shift+C", "", graph_is_there, all_groups<false>},
    {"graph.expand_some", "Groups as they were at first", "", "", graph_is_there, first_groups},
    {"graph.focus", "Focus on the selection's neighbourhood; again: wider", "o", "steps",
     graph_has_selection, focus},
    {"graph.wider", "A wider neighbourhood", "", "", is_focused, step_radius<1>},
    {"graph.narrower", "A narrower neighbourhood", "Shift+O", "", is_focused, step_radius<-1>},
    {"graph.up", "Along an edge, up", "UpArrow", "", graph_is_there, walk_graph<WalkDirection::up>,
     "graph"},
    {"graph.down", "Along an edge, down", "DownArrow", "", graph_is_there,
     walk_graph<WalkDirection::down>, "graph"},
    {"graph.left", "Along an edge, left", "LeftArrow", "", graph_is_there,
     walk_graph<WalkDirection::left>, "graph"},
    {"graph.right", "Along an edge, right", "RightArrow", "", graph_is_there,
     walk_graph<WalkDirection::right>, "graph"},
    {"graph.next", "Next node in program order", ".", "", graph_is_there, step_order<1>},
    {"graph.previous", "Previous node in program order", ",", "", graph_is_there, step_order<-1>},
};

}  // namespace

std::span<const Command> graph_commands() { return kGraphRows; }

}  // namespace recut::gui

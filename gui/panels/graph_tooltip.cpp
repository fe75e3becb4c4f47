// The tooltip of the box under the pointer, and the menu of the right button.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/canvas/box_labels.h"
#include "gui/canvas/walk.h"
#include "gui/draw/popup.h"
#include "gui/model/role_totals.h"
#include "gui/panels/graph_parts.h"

namespace recut::gui {
namespace {

struct GraphTooltipLine {
  std::string what, text;
};

std::string types_of(const Node& node) {
  std::string text;
  for (const TensorType& type : node.outputs) text += (text.empty() ? "" : ", ") + format(type);
  return text;
}

std::string role_text(const GraphPaneContext& context, NodeId node) {
  if (context.subject.shown.plan == nullptr) return "the plan is being made";
  const PlanView& plan = *context.subject.shown.plan;
  const NodeId planned = planned_node(context.picture.graph(), plan, node);
  if (!planned.valid()) return "not in the plan's graph: a pass takes it away";
  const int runs = plan.extra_runs[plan.graph().position(planned)];
  const std::string role(name_of(plan.role(planned)));
  return runs > 0 ? fmt::format("{}, runs {} times", role, runs + 1) : role;
}

// The difference from the other pane.
std::string difference_text(const GraphPaneContext& context, NodeId node) {
  const ComparedSide* side = context.subject.side();
  if (side == nullptr || context.canvas.differences == nullptr) return {};
  const char* other = context.is_here() ? "there" : "here";
  const NodeId partner = side->partner(node);
  const Graph& its =
      (context.is_here() ? context.subject.comparison->there : context.subject.comparison->here)
          .shown.graph();
  switch (side->of(node)) {
    case Difference::none:
      return {};
    case Difference::only:
      return partner.valid() ? fmt::format("gone {}: {} stands for it", other,
                                           clipped(its.node_name(partner), 60))
                             : fmt::format("there is none {}", other);
    case Difference::rewritten:
      return fmt::format("{}: {}", other, clipped(call_of(its, partner), 60));
    case Difference::fate:
      if (const auto role = side->other_role[context.picture.graph().position(node)])
        return fmt::format("{} {}", name_of(*role), other);
      return fmt::format("runs another number of times {}", other);
  }
  return {};
}

std::vector<GraphTooltipLine> lines_of(const GraphPaneContext& context, NodeId id) {
  const Graph& graph = context.picture.graph();
  const Node& node = graph[id];
  const Origin& origin = graph.origin(id);
  std::vector<GraphTooltipLine> lines;
  lines.push_back({"operator", std::string(graph.op(id).name)});
  lines.push_back({"type", types_of(node)});
  const std::uint32_t position = context.picture.scene->find(id);
  if (position != layout::Scene::kNone)
    lines.push_back({"storage", format_bytes(context.picture.scene->nodes[position].bytes)});
  if (!origin.module.empty())
    lines.push_back({"module", std::string(clipped(short_module(origin.module)))});
  if (!origin.source.empty()) lines.push_back({"source", std::string(clipped(origin.source))});
  lines.push_back({"role", role_text(context, id)});
  if (const std::string text = placement_text(context, id); !text.empty())
    lines.push_back({"placement", text});
  if (position != layout::Scene::kNone && !context.picture.changed.empty() &&
      context.picture.changed[position])
    lines.push_back({"pass", "new since the pass that was shown before"});
  if (const std::string text = difference_text(context, id); !text.empty())
    lines.push_back({"compared", text});
  return lines;
}

std::vector<GraphTooltipLine> lines_of(const GraphPaneContext& context, const layout::Box& box,
                                       const BoxMarks& marks) {
  const layout::Group& group = context.picture.group(box);
  std::vector<GraphTooltipLine> lines;
  if (!group.path.empty()) lines.push_back({"module", std::string(clipped(group.path))});
  lines.push_back(
      {"nodes", fmt::format("{} forward, {} backward", format_count(group.forward_nodes),
                            format_count(group.backward_nodes))});
  if (group.equals > 1)
    lines.push_back(
        {"alike", fmt::format("1 of {} groups with these operators and shapes", group.equals)});
  if (marks.saved > 0)
    lines.push_back({"saved", fmt::format("{}, {}", counted_text(Role::saved, marks.saved),
                                          format_bytes(marks.bytes))});
  lines.push_back({"others", fmt::format("{} nodes recomputed, {} freed or returned", marks.again,
                                         marks.others)});
  return lines;
}

void tooltip(const GraphPaneContext& context, const std::string& title, const Role* role,
             const std::vector<GraphTooltipLine>& lines) {
  const Ui& ui = context.ui;
  const float row = ui.px(18), label = ui.px(66);
  float wide = ui.width(title, Face::mono_strong) + ui.px(24);
  for (const GraphTooltipLine& line : lines)
    wide = std::max(wide, label + ui.width(line.text, Face::mono_small));
  wide = std::min(wide, ui.px(430)) + ui.px(24);
  const float high = row * static_cast<float>(lines.size()) + ui.px(38);
  const ImVec2 at = ImGui::GetIO().MousePos;
  const Rect& area = context.view.area();
  float left = at.x + ui.px(16), top = at.y + ui.px(18);
  if (left + wide > area.right) left = std::max(area.left, at.x - ui.px(12) - wide);
  if (top + high > area.bottom) top = std::max(area.top, at.y - ui.px(12) - high);
  Rect rest = rect_at({std::round(left), std::round(top)}, {wide, high});
  raised_ground(ui, rest);
  rest = rest.inset(ui.px(12), ui.px(7));
  Rect head = rest.cut_top(ui.px(22));
  if (role != nullptr) ui.sign(head.cut_right(ui.px(14)).centre(), *role);
  ui.text(head, title, Face::mono_strong, ui.theme.text);
  for (const GraphTooltipLine& line : lines) {
    Rect rect = rest.cut_top(row);
    ui.text(rect.cut_left(label), line.what, Face::small, ui.theme.dim);
    // A module's path is cut at its beginning, since its end tells more.
    if (line.what == "module")
      ui.path(rect, line.text, Face::mono_small, ui.theme.text);
    else
      ui.text(rect, line.text, Face::mono_small, ui.theme.text);
  }
}

// Shows the tooltip of a rung or an edge under the pointer.
void edge_tooltip(const GraphPaneContext& context, std::uint32_t index) {
  const layout::Edge& edge = context.layout().edges[index];
  const auto name = [&](layout::BoxId box) {
    return name_of(context.picture, context.layout().boxes[box.index]);
  };
  std::vector<GraphTooltipLine> lines;
  // Several values may be views of one storage, so the plan counts their bytes.
  lines.push_back({"carries", edge.values == 1 ? format_bytes(edge.bytes)
                                               : fmt::format("{} values", edge.values)});
  const RungMarks& rung = context.marks.rungs[index];
  if (edge.kind == layout::EdgeKind::saved)
    lines.push_back(
        {"plan", fmt::format("{} saved, {}; {} recomputed", counted_text(Role::saved, rung.saved),
                             format_bytes(rung.bytes), rung.again)});
  tooltip(context, name(edge.from) + " → " + name(edge.to), nullptr, lines);
}

struct Choice {
  std::string text, command, argument;
};

std::vector<Choice> choices_of(const GraphPaneContext& context) {
  const GraphMemory& memory = context.memory;
  std::vector<Choice> choices;
  for (const NodeId node : memory.menu_ends)
    if (context.picture.graph().contains(node))
      choices.push_back({std::string(clipped(context.picture.graph().node_name(node), 60)),
                         context.is_here() ? "select.node" : "compare.select",
                         context.picture.graph().node_name(node)});
  if (!choices.empty()) return choices;
  if (memory.menu_node.valid() && context.is_here()) {
    const std::string name = context.picture.graph().node_name(memory.menu_node);
    if (context.document.find(name).valid()) {
      choices.push_back({"Must save", "pin.save", name});
      choices.push_back({"Must recompute", "pin.recompute", name});
      choices.push_back({"Leave to the planner", "pin.none", name});
    }
    choices.push_back({"Focus on its neighbourhood", "graph.focus", ""});
    choices.push_back({"Follow its lifetime", "value.follow", ""});
    choices.push_back({"Copy as text", "graph.copy", ""});
  }
  if (memory.menu_group.valid() && memory.menu_group.index < context.picture.scene->groups.size()) {
    const layout::Group& group = context.picture.scene->groups[memory.menu_group.index];
    const bool open = context.picture.expansion.is_open(group);
    const std::string key = std::to_string(group.key);
    if (group.parent.valid())
      choices.push_back({(open ? "Collapse " : "Expand ") + std::string(clipped(group.label, 40)),
                         "graph.toggle", key});
    if (group.parent.valid() && context.is_here())
      choices.push_back({"Fit it to the window", "graph.fit_group", key});
  }
  choices.push_back({"Fit everything", "graph.fit", ""});
  std::erase_if(choices, [](const Choice& c) { return find_command(c.command) == nullptr; });
  return choices;
}

}  // namespace

void draw_tooltip(const GraphPaneContext& context) {
  if (context.ui.items.keys_lead) return;
  if (!context.memory.hovers || context.memory.menu || context.memory.panning || context.moving())
    return;
  const ImVec2 at = ImGui::GetIO().MousePos;
  const layout::Point p = context.view.under(at);
  if (!context.view.area().contains(at)) return;
  const layout::BoxId id = layout::hit_box(context.layout(), p);
  if (!id.valid()) {
    const std::uint32_t edge =
        layout::hit_edge(context.layout(), p, context.ui.px(4) / context.view.pixels());
    if (edge != layout::Scene::kNone && context.view.zoom() > 0.25f) edge_tooltip(context, edge);
    return;
  }
  const layout::Box& box = context.layout().boxes[id.index];
  const BoxMarks& marks = context.marks.boxes[id.index];
  if (box.node.valid())
    return tooltip(context, name_of(context.picture, box), marks.known ? &marks.role : nullptr,
                   lines_of(context, box.node));
  tooltip(context, name_of(context.picture, box), nullptr, lines_of(context, box, marks));
}

void draw_menu(const GraphPaneContext& context) {
  GraphMemory& memory = context.memory;
  if (!memory.menu) return;
  Ui& ui = context.ui;
  constexpr std::size_t kMaxRows = 18;
  std::vector<Choice> choices = choices_of(context);
  if (choices.size() > kMaxRows) choices.resize(kMaxRows);
  const float wide = ui.px(memory.menu_ends.empty() ? 210.0f : 260.0f);
  const float high = ui.px(kRow) * static_cast<float>(choices.size()) + 2 * ui.px(kPopupEdge);
  Rect box = rect_at({memory.menu_at.x, memory.menu_at.y}, {wide, high});
  Rect rest = begin_popup(ui, context.is_here() ? "graph menu" : "menu there", box);
  bool done = false;
  for (const Choice& choice : choices) {
    const Rect line = rest.cut_top(ui.px(kRow));
    if (popup_row(ui, "menu " + choice.text, line, false).pressed) {
      context.intents.push_back({choice.command, choice.argument});
      done = true;
    }
    ui.text(line.inset(ui.px(12), 0), choice.text, Face::text, ui.theme.text);
  }
  if (done || pressed_outside(box) || ImGui::IsKeyPressed(ImGuiKey_Escape)) memory.menu = false;
  end_popup();
}

}  // namespace recut::gui

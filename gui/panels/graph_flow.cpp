// The minimum cut of strategy torch on the graph: its network, the paths by which the flow is
// found, and the cut. The picture steps back, and the nodes that take part are drawn over it.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/app/flow_view.h"
#include "gui/canvas/box_labels.h"
#include "gui/panels/graph_parts.h"

namespace recut::gui {
namespace {

bool has(const std::vector<NodeId>& nodes, NodeId node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

class FlowPicture {
 public:
  FlowPicture(const GraphPaneContext& context, const FlowView& view)
      : context_(context), ui_(context.ui), view_(view), flow_(*view.flow) {
    find_parts();
  }

  // The bounds of the flow's boxes, with room for the labels beside them.
  layout::Rect bounds() const {
    layout::Rect all;
    for (const TorchFlowNode& node : flow_.nodes)
      if (const layout::BoxId box = context_.picture.own_box(node.node);
          box.valid() && takes_part(node))
        all = all.united(context_.layout().boxes[box.index].rect);
    return {all.left - 130, all.top - 60, all.right + 150, all.bottom + 90};
  }

  void draw() const {
    ui_.fill(context_.view.area(), ui_.theme.background, 0, 0.86);
    for (const TorchFlowNode& node : flow_.nodes) edges(node);
    if (const TorchFlowPath* path = view_.path()) route(*path);
    for (const TorchFlowNode& node : flow_.nodes) box(node);
    if (view_.at_cut())
      for (const NodeId node : flow_.saved)
        if (has(parts_, node)) cut(node);
  }

 private:
  const TorchFlowPath::Stop* stop_at(NodeId node) const {
    const TorchFlowPath* path = view_.path();
    if (path == nullptr) return nullptr;
    for (const TorchFlowPath::Stop& stop : path->stops)
      if (stop.node == node) return &stop;
    return nullptr;
  }

  // Nodes on a path from the source to the sink. Of parameters alone none is, since those cost
  // nothing to keep.
  void find_parts() {
    const Graph& graph = context_.picture.graph();
    std::vector<NodeId> fed, leading;
    for (const TorchFlowNode& node : flow_.nodes) {
      const auto& operands = graph[node.node].operands;
      const bool known = std::any_of(operands.begin(), operands.end(),
                                     [&](NodeId operand) { return has(fed, operand); });
      if (node.weight != 0 && (known || !node.why_not.empty())) fed.push_back(node.node);
    }
    for (std::size_t i = flow_.nodes.size(); i-- > 0;) {
      const TorchFlowNode& node = flow_.nodes[i];
      if (!node.needed_in_backward && !has(leading, node.node)) continue;
      if (has(fed, node.node)) parts_.push_back(node.node);
      for (const NodeId operand : graph[node.node].operands) leading.push_back(operand);
    }
  }
  bool takes_part(const TorchFlowNode& node) const { return has(parts_, node.node); }
  Rect rect_of(NodeId node) const {
    const layout::BoxId box = context_.picture.own_box(node);
    return box.valid() ? context_.rect_of(box.index) : Rect{};
  }

  void link(ImVec2 a, ImVec2 b, Colour colour, float width, double opacity) const {
    const float bow = (b.y - a.y) * 0.45f;
    ImGui::GetWindowDrawList()->AddBezierCubic(a, {a.x, a.y + bow}, {b.x, b.y - bow}, b,
                                               Ui::paint(colour, opacity), width, 20);
  }
  ImVec2 foot(const Rect& rect) const { return {rect.centre().x, rect.bottom}; }
  ImVec2 top(const Rect& rect) const { return {rect.centre().x, rect.top}; }
  // The hand-over of a box to backward: downwards, beside its path to other nodes.
  ImVec2 gate(const Rect& rect) const {
    return {rect.right - std::min(context_.length(40), rect.width() / 4), rect.bottom};
  }
  ImVec2 sink(const Rect& rect) const { return {gate(rect).x, rect.bottom + context_.length(34)}; }
  ImVec2 source(const Rect& rect) const {
    return {rect.left - context_.length(64), rect.centre().y};
  }

  // Draws the network's edges between nodes as thin lines.
  void edges(const TorchFlowNode& node) const {
    const Rect to = rect_of(node.node);
    if (to.empty() || !takes_part(node)) return;
    const Graph& graph = context_.picture.graph();
    for (const NodeId operand : graph[node.node].operands) {
      const Rect from = rect_of(operand);
      if (!from.empty() && has(parts_, operand))
        link(foot(from), top(to), ui_.theme.faint, ui_.px(1.2f), 0.9);
    }
    if (node.needed_in_backward) ui_.line(gate(to), sink(to), ui_.theme.faint, ui_.px(1.2f));
    if (!node.why_not.empty())
      ui_.line(source(to), {to.left, to.centre().y}, ui_.theme.faint, ui_.px(1.2f));
  }

  // The path of this step as a thick line, with its amount of flow.
  void route(const TorchFlowPath& path) const {
    const Colour blue = ui_.theme.selection;
    const float width = ui_.px(3);
    for (std::size_t i = 0; i < path.stops.size(); ++i) {
      const Rect here = rect_of(path.stops[i].node);
      if (here.empty()) continue;
      if (i == 0) ui_.line(source(here), {here.left, here.centre().y}, blue, width);
      if (i + 1 == path.stops.size()) ui_.line(gate(here), sink(here), blue, width);
      if (i + 1 == path.stops.size()) continue;
      const Rect next = rect_of(path.stops[i + 1].node);
      if (!next.empty()) link(foot(here), top(next), blue, width, 1);
    }
    const Rect first = rect_of(path.stops.front().node);
    if (!first.empty()) pill(source(first), "+" + format_bytes(path.amount), blue);
  }

  void pill(ImVec2 right, const std::string& text, Colour colour) const {
    const float wide = ui_.width(text, Face::mono_small) + ui_.px(12);
    const Rect box{right.x - wide, right.y - ui_.px(9), right.x, right.y + ui_.px(9)};
    ui_.fill(box, colour, ui_.px(9));
    ui_.text(box, text, Face::mono_small, ui_.theme.background, Align::centre);
  }

  // Draws name and price, and a bar along the foot: the part of the price that the flow has used
  // up.
  void box(const TorchFlowNode& node) const {
    const Rect rect = rect_of(node.node);
    if (rect.empty() || !takes_part(node)) return;
    const bool on_path = stop_at(node.node) != nullptr;
    const bool full = node.weight > 0 && view_.used(node.node) >= node.weight;
    const bool again = view_.at_cut() && has(flow_.recomputed, node.node);
    const float round = ui_.px(kRadius);
    ui_.fill(rect, ui_.theme.raised, round);
    const Colour edge = on_path ? ui_.theme.selection
                        : again ? ui_.theme.recomputed
                                : ui_.theme.line;
    again ? ui_.dashed_frame(rect, edge, round, ui_.px(1.4f))
          : ui_.frame(rect, edge, round, on_path ? ui_.px(2) : ui_.whole(1));
    gauge(node, rect, full);
    draw_text(node, rect, full);
  }

  void gauge(const TorchFlowNode& node, const Rect& rect, bool full) const {
    if (node.weight <= 0) return;
    Rect bar = rect.inset(ui_.px(3), 0);
    bar = bar.cut_bottom(ui_.px(4)).inset(0, ui_.px(0.5f));
    const double share =
        static_cast<double>(view_.used(node.node)) / static_cast<double>(node.weight);
    ui_.fill(bar, ui_.theme.line, ui_.px(1));
    ui_.fill(bar.cut_left(bar.width() * static_cast<float>(std::clamp(share, 0.0, 1.0))),
             full ? ui_.theme.saved : ui_.theme.selection, ui_.px(1));
  }

  void draw_text(const TorchFlowNode& node, Rect rect, bool full) const {
    const std::string name(clipped(context_.picture.graph().node_name(node.node)));
    const std::int64_t used = view_.used(node.node);
    std::string price = node.weight < 0 ? "" : format_bytes(node.weight);
    if (full) price = "full · " + price;
    if (!full && used > 0) price = format_bytes(used) + " of " + price;
    ui_.items.add("flow " + name, ItemKind::figure, rect.within(context_.view.area()), true, price);
    if (!context_.names()) return;
    rect = rect.inset(context_.length(9), 0);
    const Ink::Type type{Face::mono_small, context_.type_size(),
                         full ? ui_.theme.saved : ui_.theme.dim};
    Rect left = rect;
    left.right -= context_.ink.text(rect, price, type, Align::right) + context_.length(6);
    context_.ink.text(left, name, {Face::text, context_.type_size(), ui_.theme.text});
    tags(node, rect);
  }

  // The edges of a node to the source and to the sink; if the path goes there, it shows that.
  void tags(const TorchFlowNode& node, const Rect& rect) const {
    const Rect box = rect.inset(-context_.length(9), 0);
    const TorchFlowPath* path = view_.path();
    const bool first = path != nullptr && path->stops.front().node == node.node;
    if (!node.why_not.empty() && !first)
      ui_.label({source(box).x - ui_.px(4), box.centre().y}, "source", Face::small, ui_.theme.dim,
                Align::right);
    if (node.needed_in_backward)
      ui_.label({sink(rect).x, sink(rect).y + ui_.px(9)}, "sink: backward", Face::small,
                ui_.theme.dim, Align::centre);
  }

  // The cut goes through the node: between its operands and its users.
  void cut(NodeId node) const {
    const Rect rect = rect_of(node);
    if (rect.empty()) return;
    const float y = rect.bottom + ui_.px(4), out = context_.length(26);
    const Colour amber = ui_.theme.saved;
    ui_.frame(rect, amber, ui_.px(kRadius), ui_.px(2));
    ui_.dashed_line({rect.left - out, y}, {rect.right + out, y}, amber, ui_.px(2.4f), ui_.px(7),
                    ui_.px(4));
    ui_.label({rect.left - out - ui_.px(6), y}, "cut", Face::strong, amber, Align::right);
  }

  const GraphPaneContext& context_;
  const Ui& ui_;
  const FlowView& view_;
  const TorchFlow& flow_;
  std::vector<NodeId> parts_;
};

// Draws the state of the flow, its progress, and the steps.
void steps(const GraphPaneContext& context, const FlowView& view) {
  Ui& ui = context.ui;
  const Rect& area = context.view.area();
  const std::string text =
      view.at_cut() ? "the cut costs " + format_bytes(view.sent())
      : view.step == 0
          ? fmt::format("network of strategy torch, no budget · {} paths", view.last() - 1)
          : fmt::format("{} · {} sent so far", view.description(), format_bytes(view.sent()));
  const float high = ui.px(30), wide = std::min(area.width(), ui.px(470));
  Rect bar = rect_at({area.centre().x - wide / 2, area.top + ui.px(28)}, {wide, high});
  ui.fill(bar, ui.theme.raised, ui.px(kRadius));
  ui.frame(bar, ui.theme.line, ui.px(kRadius));
  bar = bar.inset(ui.px(10), ui.px(4));
  const auto take = [&](float units) { return bar.cut_right(ui.px(units)).inset(ui.px(2), 0); };
  if (button(ui, "flow stop", take(54), "Close", ButtonLook::quiet))
    context.intents.push_back({"flow.stop", ""});
  if (button(ui, "flow next", take(86), "Next path", ButtonLook::plain, !view.at_cut()))
    context.intents.push_back({"flow.next", ""});
  hint(ui, view.at_cut() ? "No path is left: this is the cut" : "Key .");
  if (button(ui, "flow back", take(54), "Back", ButtonLook::quiet, view.step > 0))
    context.intents.push_back({"flow.back", ""});
  hint(ui, view.step > 0 ? "Key ," : "This is the network before the first path");
  ui.items.add("flow", ItemKind::figure, bar, true, view.description());
  ui.text(bar, text, Face::small, ui.theme.text);
}

}  // namespace

void draw_flow(const GraphPaneContext& context) {
  const FlowView* view = shown_flow(context.document);
  if (view == nullptr) return;
  const FlowPicture picture(context, *view);
  auto& fitted = context.input.memory<std::shared_ptr<const TorchFlow>>("flow fitted");
  if (fitted != view->flow) {
    fitted = view->flow;
    fit_rect(context.canvas, picture.bounds(), 1);
  }
  picture.draw();
  steps(context, *view);
}

}  // namespace recut::gui

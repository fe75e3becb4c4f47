// The surroundings of the canvas: crumbs, the matches of the search, buttons, the two sides' names,
// and the footer.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/canvas/box_labels.h"
#include "gui/panels/graph_parts.h"

namespace recut::gui {
namespace {

// The innermost open group around the middle of the screen, or around the selection.
layout::GroupId here(const GraphPaneContext& context) {
  const layout::Rect seen = context.view.visible();
  const NodeId node = context.subject.selection.node;
  const layout::BoxId box = node.valid() ? context.picture.box(node) : layout::BoxId();
  if (box.valid() && context.layout().boxes[box.index].rect.touches(seen))
    return context.layout().boxes[box.index].group;
  layout::GroupId found(0);
  const float middle = (seen.top + seen.bottom) / 2;
  const auto& bands = context.layout().bands;
  for (std::uint32_t b = 1; b < bands.size();) {
    const bool in = bands[b].bounds.top <= middle && middle <= bands[b].bounds.bottom;
    if (in) found = bands[b].group;
    b = in ? b + 1 : bands[b].end;
  }
  return found;
}

// Draws the crumbs: the groups from the outermost in; only the last ones if there are many.
void crumbs(const GraphPaneContext& context, Rect rect) {
  const auto& groups = context.picture.scene->groups;
  std::vector<layout::GroupId> path;
  for (layout::GroupId g = here(context); g.valid() && groups[g.index].parent.valid();
       g = groups[g.index].parent)
    path.insert(path.begin(), g);
  constexpr std::size_t kMax = 5;
  const std::size_t first = path.size() > kMax ? path.size() - kMax : 0;
  for (std::size_t i = first; i < path.size(); ++i) {
    const layout::Group& group = groups[path[i].index];
    const std::string text(clipped(short_module(group.label), 40));
    const float wide = context.ui.width(text, Face::text) + 1;
    if (wide > rect.width()) return;
    if (i > first || first > 0)
      rect.cut_left(context.ui.text(rect, "›", Face::text, context.ui.theme.faint) +
                    context.ui.px(6));
    const Rect line = rect.cut_left(std::min(wide, rect.width()));
    const WidgetResponse t =
        interact(context.ui, "crumb " + text, ItemKind::button,
                 line.inset(-context.ui.px(3), context.ui.px(8)), true, group.path);
    const bool last = i + 1 == path.size();
    context.ui.text(line, text, Face::text,
                    t.hovered || last ? context.ui.theme.text : context.ui.theme.dim);
    if (t.pressed) context.intents.push_back({"graph.fit_group", std::to_string(group.key)});
    rect.cut_left(context.ui.px(6));
  }
}

// Draws the neighbourhood's radius and a button that leaves it.
float focus_text(const GraphPaneContext& context, const Rect& rect) {
  if (!context.picture.focus.node.valid()) return 0;
  Ui& ui = context.ui;
  Rect rest = rect;
  const std::string text =
      fmt::format("within {} of {}", context.picture.focus.radius,
                  clipped(context.picture.graph().node_name(context.picture.focus.node), 32));
  const float taken = ui.text(rest, text, Face::text, ui.theme.selection);
  ui.items.add("focus", ItemKind::figure, rest, true, text);
  rest.cut_left(taken + ui.px(6));
  const auto key = [&](std::string_view label, std::string_view sign, std::string_view command,
                       std::string_view what) {
    const Rect box = rest.cut_left(ui.px(26)).inset(ui.px(1), ui.px(8));
    if (button(ui, label, box, sign, ButtonLook::quiet))
      context.intents.push_back({std::string(command), ""});
    hint(ui, what);
  };
  key("narrower", "−", "graph.narrower", "A step less (Shift O)");
  key("wider", "+", "graph.wider", "A step more (o)");
  key("leave", "×", "graph.leave_focus", "The whole graph (Esc)");
  return rest.left - rect.left + ui.px(8);
}

// The buttons from the right: fit, zoom, expand and collapse.
void tools(const GraphPaneContext& context, Rect& rest) {
  Ui& ui = context.ui;
  const auto tool = [&](std::string_view label, float units, std::string_view text,
                        std::string_view command, std::string_view what) {
    const Rect box = rest.cut_right(ui.px(units)).inset(ui.px(1), ui.px(8));
    if (button(ui, label, box, text, ButtonLook::quiet))
      context.intents.push_back({std::string(command), ""});
    hint(ui, what);
  };
  if (rest.width() < ui.px(300)) return;
  tool("fit", 34, "Fit", "graph.fit", "Everything in the window (f); twice: the selection");
  tool("zoom in", 24, "+", "graph.zoom_in", "Nearer (+, or the wheel)");
  const double percent = context.canvas.at.zoom * 100;
  const std::string zoom =
      percent < 0.95 ? fmt::format("{:.2g} %", percent) : fmt::format("{:.0f} %", percent);
  const Rect figure = rest.cut_right(ui.px(46));
  ui.items.add("zoom", ItemKind::figure, figure, true, zoom);
  ui.text(figure, zoom, Face::mono_small, ui.theme.dim, Align::centre);
  tool("zoom out", 24, "−", "graph.zoom_out", "Further (-)");
  rest.cut_right(ui.px(6));
  if (context.picture.focus.node.valid()) return;
  tool("collapse all", 70, "Collapse", "graph.collapse_all", "All groups closed (Shift C)");
  tool("expand all", 60, "Expand", "graph.expand_all", "All groups open (Shift E)");
}

std::string footer_text(const GraphPaneContext& context) {
  std::string text = fmt::format(
      "{} nodes", format_count(static_cast<std::int64_t>(context.picture.whole->nodes.size())));
  if (context.picture.scene != context.picture.whole)
    text += fmt::format(" · {} shown", context.picture.scene->nodes.size());
  text += fmt::format(" · {} boxes",
                      format_count(static_cast<std::int64_t>(context.layout().boxes.size())));
  if (!context.picture.changed.empty() && context.subject.comparison == nullptr) {
    const auto changed =
        std::count(context.picture.changed.begin(), context.picture.changed.end(), true);
    text += fmt::format(" · {} new in this pass", format_count(changed));
  }
  return text;
}

}  // namespace

void draw_heading(const GraphPaneContext& context) {
  Rect rest = context.input.heading;
  tools(context, rest);
  rest.cut_right(context.ui.px(10));
  const Search& search = context.document.search;
  if (search.found && !search.text.empty()) {
    const std::string text = search.summary(context.subject.selection.node);
    Rect rect = rest.cut_right(
        std::min(rest.width(), context.ui.width(text, Face::small) + context.ui.px(8)));
    context.ui.items.add("matches", ItemKind::figure, rect, true, text);
    context.ui.text(rect, text, Face::small, context.ui.theme.dim, Align::right);
  }
  rest.cut_left(focus_text(context, rest));
  crumbs(context, rest);
}

// The names of the two columns, with the way that each runs, stay above them.
void draw_sides(const GraphPaneContext& context) {
  const Ui& ui = context.ui;
  const Rect& area = context.view.area();
  const float column = layout::kChannel / 2 + layout::kBoxWidth / 2;
  const bool backward =
      std::any_of(context.layout().boxes.begin(), context.layout().boxes.end(),
                  [](const layout::Box& box) { return box.side == layout::Side::backward; });
  const Rect strip{area.left, area.top, area.right, area.top + ui.px(22)};
  ui.fill(strip, ui.theme.background);
  const float right = std::min(area.right, context.memory.free_right);
  const float y = strip.centre().y;
  const auto side = [&](float at, std::string_view text) {
    const float wide = ui.width(text, Face::small) + ui.px(16);
    const float x = std::max(area.left + wide / 2 + ui.px(4),
                             std::min(context.view.x(at), right - wide / 2 - ui.px(4)));
    ui.text(rect_around({x, y}, wide, ui.px(19)), text, Face::small, ui.theme.dim, Align::centre);
  };
  // If the columns are closer than their names, both names are in the middle.
  if (backward && context.view.pixels_across() * (2 * column) <
                      ui.width("forward ↓ backward ↑", Face::small) + ui.px(12))
    return side(0, "forward ↓  backward ↑");
  // The name of a column is hidden together with it.
  const bool left = context.view.x(-layout::kChannel / 2) > area.left;
  const bool both = context.view.x(layout::kChannel / 2) < right;
  if (left || !backward) side(-column, "forward ↓");
  if (backward && (both || !left)) side(column, "backward ↑");
}

void draw_footer(const GraphPaneContext& context) {
  const Ui& ui = context.ui;
  const Rect& area = context.view.area();
  const std::string text = footer_text(context);
  const float wide = ui.width(text, Face::small) + 1;
  const Rect rect{area.left + ui.px(8), area.bottom - ui.px(24), area.left + wide + ui.px(24),
                  area.bottom - ui.px(4)};
  ui.fill(rect, ui.theme.background, ui.px(kRadius), 0.85);
  ui.text(rect.inset(ui.px(8), 0), text, Face::small, ui.theme.faint);
  ui.items.add("facts", ItemKind::figure, rect, true, text);
}

}  // namespace recut::gui

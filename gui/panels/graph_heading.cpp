// The surroundings of the canvas: crumbs, the matches of the search, buttons, the two sides' names,
// and the footer.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/canvas/words.h"
#include "gui/panels/graph_parts.h"

namespace recut::gui {
namespace {

// The innermost open group around the middle of the screen, or around what is selected.
layout::GroupId here(const Stage& stage) {
  const layout::Rect seen = stage.view.visible();
  const NodeId node = stage.subject.selection.node;
  const layout::BoxId box = node.valid() ? stage.picture.box(node) : layout::BoxId();
  if (box.valid() && stage.layout().boxes[box.index].rect.touches(seen))
    return stage.layout().boxes[box.index].group;
  layout::GroupId found(0);
  const float middle = (seen.top + seen.bottom) / 2;
  const auto& bands = stage.layout().bands;
  for (std::uint32_t b = 1; b < bands.size();) {
    const bool in = bands[b].bounds.top <= middle && middle <= bands[b].bounds.bottom;
    if (in) found = bands[b].group;
    b = in ? b + 1 : bands[b].end;
  }
  return found;
}

// Groups from the outermost in; the last ones where there are many.
void crumbs(const Stage& stage, Rect place) {
  const auto& groups = stage.picture.scene->groups;
  std::vector<layout::GroupId> path;
  for (layout::GroupId g = here(stage); g.valid() && groups[g.index].parent.valid();
       g = groups[g.index].parent)
    path.insert(path.begin(), g);
  constexpr std::size_t kMost = 5;
  const std::size_t first = path.size() > kMost ? path.size() - kMost : 0;
  for (std::size_t i = first; i < path.size(); ++i) {
    const layout::Group& group = groups[path[i].index];
    const std::string words(clipped(short_module(group.label), 40));
    const float wide = stage.ui.width(words, Face::text) + 1;
    if (wide > place.width()) return;
    if (i > first || first > 0)
      place.cut_left(stage.ui.text(place, "›", Face::text, stage.ui.theme.faint) + stage.ui.px(6));
    const Rect line = place.cut_left(std::min(wide, place.width()));
    const Touch t = touch(stage.ui, "crumb " + words, ItemKind::button,
                          line.inset(-stage.ui.px(3), stage.ui.px(8)), true, group.path);
    const bool last = i + 1 == path.size();
    stage.ui.text(line, words, Face::text,
                  t.hovered || last ? stage.ui.theme.text : stage.ui.theme.dim);
    if (t.pressed) stage.intents.push_back({"graph.fit_group", std::to_string(group.key)});
    place.cut_left(stage.ui.px(6));
  }
}

// The neighbourhood, with its radius and a way out.
float focus_words(const Stage& stage, const Rect& place) {
  if (!stage.picture.focus.node.valid()) return 0;
  Ui& ui = stage.ui;
  Rect rest = place;
  const std::string words =
      fmt::format("within {} of {}", stage.picture.focus.radius,
                  clipped(stage.picture.graph().node_name(stage.picture.focus.node), 32));
  const float taken = ui.text(rest, words, Face::text, ui.theme.selection);
  ui.items.add("focus", ItemKind::figure, rest, true, words);
  rest.cut_left(taken + ui.px(6));
  const auto key = [&](std::string_view label, std::string_view sign, std::string_view command,
                       std::string_view what) {
    const Rect box = rest.cut_left(ui.px(26)).inset(ui.px(1), ui.px(8));
    if (button(ui, label, box, sign, ButtonLook::quiet))
      stage.intents.push_back({std::string(command), ""});
    hint(ui, what);
  };
  key("narrower", "−", "graph.narrower", "A step less (Shift O)");
  key("wider", "+", "graph.wider", "A step more (o)");
  key("leave", "×", "graph.leave_focus", "The whole graph (Esc)");
  return rest.left - place.left + ui.px(8);
}

// From the right: fit, zoom, expand and collapse.
void tools(const Stage& stage, Rect& rest) {
  Ui& ui = stage.ui;
  const auto tool = [&](std::string_view label, float units, std::string_view words,
                        std::string_view command, std::string_view what) {
    const Rect box = rest.cut_right(ui.px(units)).inset(ui.px(1), ui.px(8));
    if (button(ui, label, box, words, ButtonLook::quiet))
      stage.intents.push_back({std::string(command), ""});
    hint(ui, what);
  };
  if (rest.width() < ui.px(300)) return;
  tool("fit", 34, "Fit", "graph.fit", "Everything in the window (f); twice: the selection");
  tool("zoom in", 24, "+", "graph.zoom_in", "Nearer (+, or the wheel)");
  const double percent = stage.canvas.at.zoom * 100;
  const std::string zoom =
      percent < 0.95 ? fmt::format("{:.2g} %", percent) : fmt::format("{:.0f} %", percent);
  const Rect figure = rest.cut_right(ui.px(46));
  ui.items.add("zoom", ItemKind::figure, figure, true, zoom);
  ui.text(figure, zoom, Face::mono_small, ui.theme.dim, Align::centre);
  tool("zoom out", 24, "−", "graph.zoom_out", "Further (-)");
  rest.cut_right(ui.px(6));
  if (stage.picture.focus.node.valid()) return;
  tool("collapse all", 70, "Collapse", "graph.collapse_all", "All groups closed (Shift C)");
  tool("expand all", 60, "Expand", "graph.expand_all", "All groups open (Shift E)");
}

std::string footer_words(const Stage& stage) {
  std::string words = fmt::format(
      "{} nodes", format_count(static_cast<std::int64_t>(stage.picture.whole->nodes.size())));
  if (stage.picture.scene != stage.picture.whole)
    words += fmt::format(" · {} shown", stage.picture.scene->nodes.size());
  words += fmt::format(" · {} boxes",
                       format_count(static_cast<std::int64_t>(stage.layout().boxes.size())));
  if (!stage.picture.changed.empty() && stage.subject.comparison == nullptr) {
    const auto changed =
        std::count(stage.picture.changed.begin(), stage.picture.changed.end(), true);
    words += fmt::format(" · {} new in this pass", format_count(changed));
  }
  return words;
}

}  // namespace

void draw_heading(const Stage& stage) {
  Rect rest = stage.input.heading;
  tools(stage, rest);
  rest.cut_right(stage.ui.px(10));
  const Search& search = stage.document.search;
  if (search.found && !search.text.empty()) {
    const std::string words = search.words(stage.subject.selection.node);
    Rect place =
        rest.cut_right(std::min(rest.width(), stage.ui.width(words, Face::small) + stage.ui.px(8)));
    stage.ui.items.add("matches", ItemKind::figure, place, true, words);
    stage.ui.text(place, words, Face::small, stage.ui.theme.dim, Align::right);
  }
  rest.cut_left(focus_words(stage, rest));
  crumbs(stage, rest);
}

// The names of the two columns, with the way that each runs, stay above them.
void draw_sides(const Stage& stage) {
  const Ui& ui = stage.ui;
  const Rect& area = stage.view.area();
  const float column = layout::kChannel / 2 + layout::kBoxWidth / 2;
  const bool backward =
      std::any_of(stage.layout().boxes.begin(), stage.layout().boxes.end(),
                  [](const layout::Box& box) { return box.side == layout::Side::backward; });
  const Rect strip{area.left, area.top, area.right, area.top + ui.px(22)};
  ui.fill(strip, ui.theme.background);
  const float right = std::min(area.right, stage.memory.free_right);
  const float y = strip.centre().y;
  const auto side = [&](float at, std::string_view words) {
    const float wide = ui.width(words, Face::small) + ui.px(16);
    const float x = std::max(area.left + wide / 2 + ui.px(4),
                             std::min(stage.view.x(at), right - wide / 2 - ui.px(4)));
    ui.text(rect_around({x, y}, wide, ui.px(19)), words, Face::small, ui.theme.dim, Align::centre);
  };
  // From so far away that the columns are closer than their names: both, in the middle.
  if (backward && stage.view.pixels_across() * (2 * column) <
                      ui.width("forward ↓ backward ↑", Face::small) + ui.px(12))
    return side(0, "forward ↓  backward ↑");
  // The name of a column is out of sight together with it.
  const bool left = stage.view.x(-layout::kChannel / 2) > area.left;
  const bool both = stage.view.x(layout::kChannel / 2) < right;
  if (left || !backward) side(-column, "forward ↓");
  if (backward && (both || !left)) side(column, "backward ↑");
}

void draw_footer(const Stage& stage) {
  const Ui& ui = stage.ui;
  const Rect& area = stage.view.area();
  const std::string words = footer_words(stage);
  const float wide = ui.width(words, Face::small) + 1;
  const Rect place{area.left + ui.px(8), area.bottom - ui.px(24), area.left + wide + ui.px(24),
                   area.bottom - ui.px(4)};
  ui.fill(place, ui.theme.background, ui.px(kRadius), 0.85);
  ui.text(place.inset(ui.px(8), 0), words, Face::small, ui.theme.faint);
  ui.items.add("facts", ItemKind::figure, place, true, words);
}

}  // namespace recut::gui

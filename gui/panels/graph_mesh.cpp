// Placements on the graph of a rank: a tint of each box by the axes that cut its value, collectives
// apart from calls, their edges as wide as the bytes that they send, and the legend of the tints.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/panels/graph_parts.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMaxPlacementRows = 8;

// The colour of a set of axes: that of one axis, or the mean of several.
Colour colour_of_axes(const Theme& theme, std::uint32_t axes) {
  constexpr std::size_t kOfAxis[] = {0, 3, 4, 2, 1};
  Colour colour = 0;
  double count = 0;
  for (std::size_t axis = 0; axis < 32; ++axis) {
    if ((axes >> axis & 1U) == 0) continue;
    const Colour own = theme.layers[kOfAxis[axis % std::size(kOfAxis)]];
    count += 1;
    colour = count == 1 ? own : mix(colour, own, 1 / count);
  }
  return colour;
}

std::string text_of_axes(const MeshView& mesh, std::uint32_t axes) {
  std::string text;
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis)
    if ((axes >> axis & 1U) != 0) text += (text.empty() ? "cut by " : ", ") + mesh.axes[axis];
  return text.empty() ? "whole on every rank" : text;
}

std::int32_t placement_at(const GraphPaneContext& context, const MeshView& mesh,
                          std::uint32_t box) {
  const NodeId node = context.layout().boxes[box].node;
  return node.valid() ? mesh.placement[context.picture.graph().position(node)]
                      : MeshView::kUnplaced;
}

struct LegendEntry {
  std::string text;
  Colour colour = 0;
};

std::vector<LegendEntry> placement_legend(const Theme& theme, const MeshView& mesh) {
  std::vector<LegendEntry> entries;
  const auto add = [&](std::string text, Colour colour) {
    const bool known = std::any_of(entries.begin(), entries.end(),
                                   [&](const LegendEntry& entry) { return entry.text == text; });
    if (!known && entries.size() < kMaxPlacementRows) entries.push_back({std::move(text), colour});
  };
  std::vector<std::uint32_t> cuts;
  for (const PlacementClass& placed : mesh.classes)
    if (!placed.partial) cuts.push_back(placed.axes);
  std::sort(cuts.begin(), cuts.end());
  for (const std::uint32_t axes : cuts)
    add(text_of_axes(mesh, axes), axes == 0 ? theme.freed : colour_of_axes(theme, axes));
  for (const PlacementClass& placed : mesh.classes)
    if (placed.partial) add("partial: yet to be summed", theme.conflict);
  if (!mesh.collectives.empty()) add("collective", theme.differs);
  return entries;
}

}  // namespace

const MeshView* GraphPaneContext::mesh() const {
  const bool mine = document.mesh != nullptr && subject.shown.document == document.document &&
                    picture.document == document.document && marks.most_ms <= 0;
  return mine && input.app.settings.flag("graph.placements", true) ? document.mesh.get() : nullptr;
}

std::optional<Colour> placement_tint(const GraphPaneContext& context, std::uint32_t box) {
  const MeshView* mesh = context.mesh();
  if (mesh == nullptr) return std::nullopt;
  const Theme& theme = context.ui.theme;
  const std::int32_t at = placement_at(context, *mesh, box);
  if (at == MeshView::kCollective) return mix(theme.panel, theme.differs, 0.34);
  if (at < 0) return std::nullopt;
  const PlacementClass& placed = mesh->classes[static_cast<std::size_t>(at)];
  if (placed.partial) return mix(theme.panel, theme.conflict, 0.3);
  if (placed.axes == 0) return mix(theme.panel, theme.freed, 0.16);
  return mix(theme.panel, colour_of_axes(theme, placed.axes), 0.5);
}

std::int64_t sent_at(const GraphPaneContext& context, std::uint32_t box) {
  const MeshView* mesh = context.mesh();
  if (mesh == nullptr) return 0;
  const NodeId node = context.layout().boxes[box].node;
  return node.valid() ? mesh->sent[context.picture.graph().position(node)] : 0;
}

std::string placement_text(const GraphPaneContext& context, NodeId node) {
  const MeshView* mesh = context.mesh();
  if (mesh == nullptr) return {};
  const std::int32_t at = mesh->placement[context.picture.graph().position(node)];
  if (at >= 0) return mesh->classes[static_cast<std::size_t>(at)].text;
  if (at != MeshView::kCollective) return "between two placements";
  for (const PlacedCollective& step : mesh->collectives)
    if (step.node == node)
      return fmt::format("{} to {}, for {}: a rank sends {}", step.from, step.to, step.needed_by,
                         format_bytes(step.bytes));
  return {};
}

// At the left, over the footer.
void draw_placement_legend(const GraphPaneContext& context) {
  const MeshView* mesh = context.mesh();
  const Ui& ui = context.ui;
  if (mesh == nullptr) return;
  const std::vector<LegendEntry> entries = placement_legend(ui.theme, *mesh);
  const Rect& area = context.view.area();
  const float high = std::round(ui.px(17));
  float wide = 0;
  for (const LegendEntry& entry : entries) wide = std::max(wide, ui.width(entry.text, Face::small));
  Rect box{area.left + ui.px(8), 0, area.left + ui.px(8) + wide + ui.px(36),
           area.bottom - ui.px(28)};
  box.top = box.bottom - high * static_cast<float>(entries.size()) - ui.px(8);
  if (box.height() > area.height() / 2 || box.width() > area.width() / 2) return;
  ui.fill(box, ui.theme.background, ui.px(kRadius), 0.85);
  Rect rows = box.inset(ui.px(8), ui.px(4));
  for (const LegendEntry& entry : entries) {
    Rect row = rows.cut_top(high);
    ui.items.add("placement " + entry.text, ItemKind::figure, row, true, entry.text);
    const Rect sign = row.cut_left(ui.px(18));
    const Rect swatch = rect_around({sign.left + ui.px(6), sign.centre().y}, ui.px(12), ui.px(10));
    ui.fill(swatch, mix(ui.theme.panel, entry.colour, 0.6), ui.px(2));
    ui.frame(swatch, entry.colour, ui.px(2), 1);
    ui.text(row, entry.text, Face::small, ui.theme.dim);
  }
}

}  // namespace recut::gui

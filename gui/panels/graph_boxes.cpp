// Boxes: colour and shape by the role under the shown plan, and as much text as
// the zoom leaves room for.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/canvas/box_labels.h"
#include "gui/model/node_trace.h"
#include "gui/panels/graph_parts.h"

namespace recut::gui {
namespace {

using layout::Box;
using layout::Side;

constexpr std::size_t kMaxItems = 600;  // boxes that scripts and readers can name

struct Style {
  Colour ground = 0, outline = 0, ink = 0;
  float radius = 0;  // units
  bool dashed = false, bar = false, thick = false, quiet = false;
};

Style neutral(const Theme& theme, const Box& box) {
  if (box.side == Side::backward)
    return {mix(theme.panel, theme.result, 0.07), mix(theme.line, theme.result, 0.35), theme.text,
            4};
  if (box.side == Side::shelf) return {theme.background, theme.line, theme.dim, 14};
  return {mix(theme.panel, theme.raised, 0.5), mix(theme.line, theme.freed, 0.55), theme.text, 4};
}

Style style_of(const GraphPaneContext& context, const Box& box, const BoxMarks& marks) {
  const Theme& theme = context.ui.theme;
  Style style = neutral(theme, box);
  if (context.marks.most_ms > 0) {
    style.ground = heat_colour(theme, marks.ms / context.marks.most_ms);
    return style;
  }
  if (!box.node.valid()) {
    style.ground = theme.raised;
    return style;
  }
  const bool view = box.importance == 0;
  if (view) {
    style.ground = theme.background;
    style.ink = theme.dim;
    style.quiet = true;
  }
  if (!marks.known) return style;
  if (marks.role == Role::saved) {
    style.ground = mix(theme.panel, theme.saved, view ? 0.08 : 0.17);
    style.outline = theme.saved;
    style.radius = 0;
    style.bar = !view;
    style.thick = !view;
  } else if (marks.role == Role::recomputed) {
    style.ground = mix(theme.panel, theme.recomputed, view ? 0.05 : 0.12);
    style.outline = theme.recomputed;
    style.dashed = true;
    style.radius = 8;
  }
  return style;
}

void diamond(const GraphPaneContext& context, ImVec2 centre, float radius) {
  context.ui.diamond(centre, radius, context.ui.theme.result);
}

class BoxPainter {
 public:
  BoxPainter(const GraphPaneContext& context, std::uint32_t index)
      : context_(context),
        ui_(context.ui),
        box_(context.layout().boxes[index]),
        marks_(context.marks.boxes[index]),
        rect_(context.rect_of(index)),
        style_(style_of(context, box_, marks_)) {
    if (const auto tint = placement_tint(context, index)) style_.ground = *tint;
    if (sent_at(context, index) == 0) return;
    style_.outline = context.ui.theme.differs;
    style_.thick = true;
    style_.quiet = false;
  }

  void draw() {
    shape();
    if (!box_.node.valid() && !by_time()) draw_composition(context_, strip(), marks_);
    if (marks_.result) result();
    if (marks_.changed > 0 && context_.subject.comparison == nullptr) changed();
    if (!context_.names() || rect_.height() < ui_.px(9)) return;
    const float room = name();
    if (context_.lines() > 0 && box_.node.valid()) attributes(room);
  }

 private:
  bool is_large() const { return rect_.height() >= 7; }
  bool by_time() const { return context_.marks.most_ms > 0; }

  // The part under a group's name, or all of a box without room for one.
  Rect strip() const {
    const float high = std::max(1.0f, context_.length(3));
    return {rect_.left + 1, rect_.bottom - high - 1, rect_.right - 1, rect_.bottom - 1};
  }

  void shape() {
    const float radius = is_large() ? std::min(context_.length(style_.radius), ui_.px(10)) : 0;
    if (!is_large()) return speck();
    if (!box_.node.valid()) stack(radius);
    ui_.fill(rect_, style_.ground, radius);
    const float line = style_.thick ? std::clamp(context_.length(1.4f), 1.0f, ui_.px(1.6f)) : 1.0f;
    if (style_.dashed) {
      dashes(radius, line);
    } else if (!style_.quiet || style_.thick || marks_.role == Role::saved) {
      ui_.frame(rect_, style_.outline, radius, line);
    } else {
      ui_.frame(rect_, ui_.theme.line, radius, 1);
    }
    if (style_.bar) {
      const float wide = std::clamp(context_.length(4), 2.0f, ui_.px(5));
      ui_.fill({rect_.left, rect_.top, rect_.left + wide, rect_.bottom}, style_.outline);
    }
  }

  void dashes(float radius, float line) {
    if (context_.names())
      return ui_.dashed_frame(rect_, style_.outline, radius, std::max(1.0f, ui_.px(1.1f)));
    const float dash = std::max(2.0f, context_.length(6));
    context_.ink.dashed(rect_, Ui::paint(style_.outline), line, dash, dash * 0.7f);
  }

  // Draws a box of a few pixels: only its role's colour.
  void speck() {
    Colour colour = by_time() ? style_.ground : style_.outline;
    if (!box_.node.valid() && !by_time())
      colour = marks_.saved > 0 ? ui_.theme.saved : style_.outline;
    const bool emphasized = style_.thick || style_.dashed;
    ui_.fill({rect_.left, rect_.top, rect_.right, std::max(rect_.bottom, rect_.top + 1)}, colour, 0,
             emphasized     ? 0.95
             : style_.quiet ? 0.35
                            : 0.7);
  }

  // A group looks like a stack: the edges of boxes behind it show.
  void stack(float radius) {
    if (context_.picture.group(box_).equals < 2 || !context_.names()) return;
    const float by = context_.length(3);
    const Rect behind = rect_.moved(by, by);
    ui_.fill(behind, mix(ui_.theme.background, ui_.theme.raised, 0.6), radius);
    ui_.frame(behind, ui_.theme.line, radius);
  }

  void result() const {
    const float radius = std::clamp(context_.length(5.5f), 1.5f, ui_.px(6));
    diamond(context_, {rect_.right, rect_.top + rect_.height() / 2}, radius);
  }

  // Draws a turned-down corner: the previous pass has no such node.
  void changed() const {
    const float side = std::clamp(context_.length(9), 3.0f, ui_.px(9));
    ImGui::GetWindowDrawList()->AddTriangleFilled(
        {rect_.right - side, rect_.top}, {rect_.right, rect_.top}, {rect_.right, rect_.top + side},
        Ui::paint(ui_.theme.text, 0.9));
  }

  // The +/- box of a closed group; returns its width.
  float fold() const {
    const layout::Group& group = context_.picture.group(box_);
    const float side = context_.length(kFold);
    const ImVec2 c{rect_.left + context_.length(14), rect_.top + rect_.height() / 2};
    const Rect sign = rect_around(c, side, side);
    ui_.frame(sign, ui_.theme.dim, ui_.px(1));
    const float arm = side * 0.28f;
    ui_.line({c.x - arm, c.y}, {c.x + arm, c.y}, ui_.theme.dim, 1);
    ui_.line({c.x, c.y - arm}, {c.x, c.y + arm}, ui_.theme.dim, 1);
    if (box_.side != Side::backward)
      ui_.items.add(fold_label(group), ItemKind::figure, sign.within(context_.view.area()), true,
                    "closed");
    return context_.length(24);
  }

  // Draws the operator, and the node's name behind it. Returns the x at which the text begins.
  float name() {
    const bool group = !box_.node.valid();
    const float high = context_.lines() > 0 && !group ? ui_.px(24) : rect_.height();
    Rect line{rect_.left + (group ? fold() : context_.length(10)), rect_.top,
              rect_.right - context_.length(9), rect_.top + high};
    const float left = line.left;
    // Below this ratio a smaller font draws the letters, which keeps them sharp.
    constexpr float kSmaller = 13.0f / 11.5f;
    const float size = context_.type_size();
    const bool small = size < 0.9f && !group;
    const Ink::Type title{group   ? Face::strong
                          : small ? Face::small
                                  : Face::text,
                          small ? size * kSmaller : size, style_.ink};
    const BoxLabel label = box_label(context_.picture, box_);
    const std::string_view shown =
        label.path ? path_end(label.title, title, line.width()) : std::string_view(label.title);
    line.cut_left(std::min(line.width(), context_.ink.text(line, shown, title)));
    const std::vector<std::string> figures = figures_beside();
    own_name(label, title, figures, line);
    detail({line.left + ui_.px(8), line.top, line.right, line.bottom}, figures);
    return left;
  }

  // The end of a module's path, which says the most.
  std::string_view path_end(std::string_view path, const Ink::Type& type, float room) const {
    while (context_.ink.width(path, type) > room) {
      const std::size_t at = path.find('.');
      if (at == std::string_view::npos || at + 1 == path.size()) break;
      path.remove_prefix(at + 1);
    }
    return path;
  }

  // Draws behind the title a node's own name, or the number of equal groups. It leaves room for the
  // shortest figure, but never takes less than a third.
  void own_name(const BoxLabel& label, Ink::Type type, const std::vector<std::string>& figures,
                Rect& line) const {
    const float figure = figures.empty() ? 0 : context_.ink.width(figures.back(), figure_type());
    const float room = std::max(line.width() - figure - ui_.px(8), line.width() / 3);
    Rect rect = line;
    if (!label.joined) rect.cut_left(std::min(rect.width(), context_.length(6)));
    rect.right = line.left + room;
    type.colour = style_.quiet ? ui_.theme.faint : ui_.theme.dim;
    if (box_.node.valid()) {
      if (label.own.empty() || rect.width() < context_.length(12)) return;
      line.left = rect.left + context_.ink.text(rect, label.own, type);
      return;
    }
    type.face = Face::small;
    for (const std::string& alike : alike_text(context_.picture.group(box_)))
      if (context_.ink.width(alike, type) <= rect.width()) {
        line.left = rect.left + context_.ink.text(rect, alike, type);
        return;
      }
  }

  Ink::Type figure_type() const {
    const Colour colour = marks_.known && marks_.role == Role::saved && !by_time()
                              ? mix(ui_.theme.dim, ui_.theme.saved, 0.35)
                              : ui_.theme.dim;
    return {Face::mono_small, context_.type_size(), colour};
  }

  // Longest first.
  std::vector<std::string> figures_beside() const {
    if (!context_.details()) return {};
    if (by_time()) return {format_micros(1e3 * marks_.ms)};
    return details_of(context_.picture, box_, marks_.bytes);
  }

  // Draws the longest detail that has room beside the name.
  void detail(const Rect& rect, const std::vector<std::string>& figures) const {
    const Ink::Type type = figure_type();
    for (const std::string& text : figures)
      if (context_.ink.width(text, type) <= rect.width()) {
        context_.ink.text(rect, text, type, Align::right);
        return;
      }
  }

  void attributes(float left) const {
    const Ink::Type type{Face::mono_small, 1, ui_.theme.dim};
    const float letter = context_.ink.width("0", type);
    const float wide = rect_.right - left - ui_.px(8);
    const auto letters = static_cast<std::size_t>(std::max(8.0f, wide / letter));
    float top = rect_.top + ui_.px(24);
    const auto most = static_cast<std::size_t>(context_.lines());
    for (const std::string& text :
         wrapped(call_of(context_.picture.graph(), box_.node), letters, most)) {
      context_.ink.text({left, top, rect_.right - ui_.px(4), top + ui_.px(15)}, text, type);
      top += ui_.px(15);
    }
  }

  const GraphPaneContext& context_;
  const Ui& ui_;
  const Box& box_;
  const BoxMarks& marks_;
  const Rect rect_;
  Style style_;
};

void add_item(const GraphPaneContext& context, std::uint32_t index) {
  const Box& box = context.layout().boxes[index];
  const Rect seen = context.rect_of(index).within(context.view.area());
  const BoxMarks& marks = context.marks.boxes[index];
  if (!box.node.valid()) return;
  const std::string role = marks.known ? std::string(name_of(marks.role)) : "";
  context.ui.items.add("node " + std::string(clipped(context.picture.graph().node_name(box.node))),
                       ItemKind::figure, seen, true, role);
}

}  // namespace

void draw_boxes(const GraphPaneContext& context) {
  const auto& boxes = context.memory.visible.boxes;
  for (const std::uint32_t index : boxes) BoxPainter(context, index).draw();
  if (!context.names() || boxes.size() > kMaxItems) return;
  for (const std::uint32_t index : boxes) add_item(context, index);
}

// Marks the matches, the node under the pointer, the selection with the nodes that one change of
// the pass made together with it, and the overrides.
void draw_selection(const GraphPaneContext& context) {
  const Ui& ui = context.ui;
  const auto ring = [&](std::uint32_t box, Colour colour, float width) {
    const float by = std::max(2.0f, std::min(context.length(3), ui.px(3)));
    const Rect rect = context.rect_of(box).inset(-by, -by);
    if (rect.meets(context.view.area())) ui.frame(rect, colour, ui.px(kRadius), width);
  };
  for (const std::uint32_t box : context.memory.matched) ring(box, ui.theme.text, ui.px(1.2f));
  const auto box_of = [&](NodeId node) {
    return node.valid() ? context.picture.box(node) : layout::BoxId();
  };
  const layout::BoxId hovered = box_of(context.subject.selection.hovered);
  if (hovered.valid()) ring(hovered.index, mix(ui.theme.line, ui.theme.selection, 0.6), 1);
  const layout::BoxId selected = box_of(context.subject.selection.node);
  const ShownGraph& shown = context.subject.shown;
  for (const NodeId node :
       changed_together(shown.document->passes, context.subject.selection.node, shown.pass))
    if (const layout::BoxId box = box_of(node); box.valid() && box.index != selected.index)
      ring(box.index, ui.theme.selection, ui.px(1.2f));
  if (selected.valid()) ring(selected.index, ui.theme.selection, ui.px(2));
  const auto mark = [&](const std::vector<std::string>& names, Colour colour) {
    for (const std::string& name : names) {
      const layout::BoxId box = box_of(context.subject.shown.document->graph().find(name));
      if (!box.valid()) continue;
      const Rect rect = context.rect_of(box.index);
      const ImVec2 corner{rect.right - context.length(4), rect.top + context.length(4)};
      ui.circle(corner, std::max(2.0f, context.length(4)), colour);
      ui.ring(corner, std::max(2.0f, context.length(4)), ui.theme.text, 1);
    }
  };
  if (context.subject.overrides == nullptr) return;
  mark(context.subject.overrides->save, ui.theme.saved);
  mark(context.subject.overrides->recompute, ui.theme.recomputed);
}

}  // namespace recut::gui

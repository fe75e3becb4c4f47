// Boxes and frames: colour and shape by the role under the plan that is shown, and as much text as
// the zoom leaves room for.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/app/pass_steps.h"
#include "gui/canvas/words.h"
#include "gui/panels/graph_parts.h"

namespace recut::gui {
namespace {

using layout::Band;
using layout::Box;
using layout::Side;

constexpr std::size_t kMostItems = 600;  // boxes that scripts and readers can name
constexpr float kFold = 9;               // units: the side of a +/- box

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

Style style_of(const Stage& stage, const Box& box, const BoxMarks& marks) {
  const Theme& theme = stage.ui.theme;
  Style style = neutral(theme, box);
  if (stage.marks.most_ms > 0) {
    style.ground = heat_colour(theme, marks.ms / stage.marks.most_ms);
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

void diamond(const Stage& stage, ImVec2 centre, float radius) {
  stage.ui.diamond(centre, radius, stage.ui.theme.result);
}

// What of a closed group is saved, runs again, and neither: a bar of three parts.
void composition(const Stage& stage, const Rect& place, const BoxMarks& marks, double opacity = 1) {
  const Theme& theme = stage.ui.theme;
  const float all = static_cast<float>(marks.saved + marks.again + marks.others);
  if (all <= 0) return;
  Rect rest = place;
  const std::pair<std::uint32_t, Colour> parts[] = {
      {marks.saved, theme.saved}, {marks.again, theme.recomputed}, {marks.others, theme.freed}};
  for (const auto& [count, colour] : parts) {
    if (count == 0) continue;
    const float wide = std::max(2.0f, place.width() * static_cast<float>(count) / all);
    stage.ui.fill(rest.cut_left(wide), colour, 0, colour == theme.freed ? 0.5 * opacity : opacity);
  }
}

class BoxPainter {
 public:
  BoxPainter(const Stage& stage, std::uint32_t index)
      : stage_(stage),
        ui_(stage.ui),
        box_(stage.layout().boxes[index]),
        marks_(stage.marks.boxes[index]),
        rect_(stage.rect_of(index)),
        style_(style_of(stage, box_, marks_)) {}

  void draw() {
    shape();
    if (!box_.node.valid() && !by_time()) composition(stage_, strip(), marks_);
    if (marks_.result) result();
    if (marks_.changed > 0 && stage_.subject.comparison == nullptr) changed();
    if (!stage_.names() || rect_.height() < ui_.px(9)) return;
    const float room = name();
    if (stage_.lines() > 0 && box_.node.valid()) attributes(room);
  }

 private:
  bool is_large() const { return rect_.height() >= 7; }
  bool by_time() const { return stage_.marks.most_ms > 0; }

  // Under a group's name, or all of a box that has no room for one.
  Rect strip() const {
    const float high = std::max(1.0f, stage_.length(3));
    return {rect_.left + 1, rect_.bottom - high - 1, rect_.right - 1, rect_.bottom - 1};
  }

  void shape() {
    const float radius = is_large() ? std::min(stage_.length(style_.radius), ui_.px(10)) : 0;
    if (!is_large()) return speck();
    if (!box_.node.valid()) stack(radius);
    ui_.fill(rect_, style_.ground, radius);
    const float line = style_.thick ? std::clamp(stage_.length(1.4f), 1.0f, ui_.px(1.6f)) : 1.0f;
    if (style_.dashed) {
      dashes(radius, line);
    } else if (!style_.quiet || style_.thick || marks_.role == Role::saved) {
      ui_.frame(rect_, style_.outline, radius, line);
    } else {
      ui_.frame(rect_, ui_.theme.line, radius, 1);
    }
    if (style_.bar) {
      const float wide = std::clamp(stage_.length(4), 2.0f, ui_.px(5));
      ui_.fill({rect_.left, rect_.top, rect_.left + wide, rect_.bottom}, style_.outline);
    }
  }

  void dashes(float radius, float line) {
    if (stage_.names())
      return ui_.dashed_frame(rect_, style_.outline, radius, std::max(1.0f, ui_.px(1.1f)));
    const float dash = std::max(2.0f, stage_.length(6));
    stage_.ink.dashed(rect_, Ui::paint(style_.outline), line, dash, dash * 0.7f);
  }

  // A box of a few pixels: its role's colour and nothing else.
  void speck() {
    Colour colour = by_time() ? style_.ground : style_.outline;
    if (!box_.node.valid() && !by_time())
      colour = marks_.saved > 0 ? ui_.theme.saved : style_.outline;
    const bool told = style_.thick || style_.dashed;
    ui_.fill({rect_.left, rect_.top, rect_.right, std::max(rect_.bottom, rect_.top + 1)}, colour, 0,
             told           ? 0.95
             : style_.quiet ? 0.35
                            : 0.7);
  }

  // Groups stand for several things: the edges of what lies behind show.
  void stack(float radius) {
    if (stage_.picture.group(box_).equals < 2 || !stage_.names()) return;
    const float by = stage_.length(3);
    const Rect behind = rect_.moved(by, by);
    ui_.fill(behind, mix(ui_.theme.background, ui_.theme.raised, 0.6), radius);
    ui_.frame(behind, ui_.theme.line, radius);
  }

  void result() const {
    const float radius = std::clamp(stage_.length(5.5f), 1.5f, ui_.px(6));
    diamond(stage_, {rect_.right, rect_.top + rect_.height() / 2}, radius);
  }

  // A corner turned down: the pass before hasn't got this.
  void changed() const {
    const float side = std::clamp(stage_.length(9), 3.0f, ui_.px(9));
    ImGui::GetWindowDrawList()->AddTriangleFilled(
        {rect_.right - side, rect_.top}, {rect_.right, rect_.top}, {rect_.right, rect_.top + side},
        Ui::paint(ui_.theme.text, 0.9));
  }

  // The +/- box of a closed group; returns what it takes.
  float fold() const {
    const layout::Group& group = stage_.picture.group(box_);
    const float side = stage_.length(kFold);
    const ImVec2 c{rect_.left + stage_.length(14), rect_.top + rect_.height() / 2};
    const Rect sign = rect_around(c, side, side);
    ui_.frame(sign, ui_.theme.dim, ui_.px(1));
    const float arm = side * 0.28f;
    ui_.line({c.x - arm, c.y}, {c.x + arm, c.y}, ui_.theme.dim, 1);
    ui_.line({c.x, c.y - arm}, {c.x, c.y + arm}, ui_.theme.dim, 1);
    if (box_.side != Side::backward)
      ui_.items.add(fold_label(group), ItemKind::figure, sign.within(stage_.view.area()), true,
                    "closed");
    return stage_.length(24);
  }

  // Returns where the text begins.
  float name() {
    const bool group = !box_.node.valid();
    const float high = stage_.lines() > 0 && !group ? ui_.px(24) : rect_.height();
    Rect line{rect_.left + (group ? fold() : stage_.length(10)), rect_.top,
              rect_.right - stage_.length(9), rect_.top + high};
    // Small letters come from a small face: they stay sharper.
    constexpr float kSmaller = 13.0f / 11.5f;
    const float size = stage_.type_size();
    const bool small = size < 0.9f && !group;
    const Ink::Type title{group   ? Face::strong
                          : small ? Face::small
                                  : Face::text,
                          small ? size * kSmaller : size, style_.ink};
    const std::string words = name_of(stage_.picture, box_);
    const float wide = stage_.ink.text(line, words, title);
    if (stage_.details()) detail({line.left + wide + ui_.px(8), line.top, line.right, line.bottom});
    return line.left;
  }

  // The longest that there is room for beside the name.
  void detail(const Rect& place) const {
    const Colour colour = marks_.known && marks_.role == Role::saved && !by_time()
                              ? mix(ui_.theme.dim, ui_.theme.saved, 0.35)
                              : ui_.theme.dim;
    const Ink::Type type{Face::mono_small, stage_.type_size(), colour};
    if (by_time()) {
      stage_.ink.text(place, format_micros(1e3 * marks_.ms), type, Align::right);
      return;
    }
    for (const std::string& words : details_of(stage_.picture, box_, marks_.bytes))
      if (stage_.ink.width(words, type) <= place.width()) {
        stage_.ink.text(place, words, type, Align::right);
        return;
      }
  }

  void attributes(float left) const {
    const Ink::Type type{Face::mono_small, 1, ui_.theme.dim};
    const float letter = stage_.ink.width("0", type);
    const float wide = rect_.right - left - ui_.px(8);
    const auto letters = static_cast<std::size_t>(std::max(8.0f, wide / letter));
    float top = rect_.top + ui_.px(24);
    const auto most = static_cast<std::size_t>(stage_.lines());
    for (const std::string& words :
         wrapped(call_of(stage_.picture.graph(), box_.node), letters, most)) {
      stage_.ink.text({left, top, rect_.right - ui_.px(4), top + ui_.px(15)}, words, type);
      top += ui_.px(15);
    }
  }

  const Stage& stage_;
  const Ui& ui_;
  const Box& box_;
  const BoxMarks& marks_;
  const Rect rect_;
  const Style style_;
};

// A frame's name, in its head; where the frame is only a few lines high, beside it.
void frame_title(const Stage& stage, const Band& band, const Rect& frame, bool forward) {
  const Ui& ui = stage.ui;
  const layout::Group& group = stage.picture.scene->groups[band.group.index];
  const float head = stage.length(layout::kHeader);
  if (frame.height() < ui.px(20) || frame.width() < ui.px(40) || head < ui.px(8)) return;
  const float high = std::max(head, ui.px(12));
  Rect line{frame.left + stage.length(12), frame.top, frame.right - stage.length(10),
            frame.top + high};
  if (forward) {
    const float side = stage.length(kFold);
    const ImVec2 c{line.left + side / 2, line.centre().y};
    const Rect sign = rect_around(c, side, side);
    ui.fill(sign, ui.theme.background);
    ui.frame(sign, ui.theme.faint, ui.px(1));
    ui.line({c.x - side * 0.28f, c.y}, {c.x + side * 0.28f, c.y}, ui.theme.dim, 1);
    ui.items.add(fold_label(group), ItemKind::figure, sign.within(stage.view.area()), true, "open");
    line.cut_left(side + stage.length(8));
  }
  const float size = std::clamp(stage.type_size(), 0.7f, 1.0f);
  stage.ink.text(line, title_of(group), {Face::strong, size, ui.theme.dim, stage.arrived});
}

// Beside a bar that stands for a group: what it is, over the frames around it. Its like stand above
// and below it, so their number says nothing here.
void block_name(const Stage& stage, const Band& band, const Rect& bar) {
  const Ui& ui = stage.ui;
  const float size = std::min(1.0f, bar.height() / ui.px(11));
  if (size < 0.75f) return;
  const std::string words = label_of(stage.picture.scene->groups[band.group.index]);
  const Ink::Type type{Face::small, size, ui.theme.dim};
  const float wide = std::min(ui.px(160), stage.ink.width(words, type) + 1);
  const float right = bar.left - ui.px(8);
  const Rect beside{right - wide, bar.top, right, bar.bottom};
  ui.fill(beside.inset(-ui.px(4), 0), ui.theme.background);
  stage.ink.text(beside, words, type, Align::right);
}

void add_item(const Stage& stage, std::uint32_t index) {
  const Box& box = stage.layout().boxes[index];
  const Rect seen = stage.rect_of(index).within(stage.view.area());
  const BoxMarks& marks = stage.marks.boxes[index];
  if (!box.node.valid()) return;
  const std::string role = marks.known ? std::string(name_of(marks.role)) : "";
  stage.ui.items.add("node " + std::string(clipped(stage.picture.graph().node_name(box.node))),
                     ItemKind::figure, seen, true, role);
}

}  // namespace

std::string fold_label(const layout::Group& group) {
  return "fold " + std::string(clipped(group.path.empty() ? group.label : group.path));
}

void draw_frames(const Stage& stage) {
  const Theme& theme = stage.ui.theme;
  for (const std::uint32_t b : stage.memory.visible.bands) {
    const Band& band = stage.layout().bands[b];
    const double tint = band.depth % 2 == 1 ? 0.55 : 0.25;
    for (const layout::Rect* side : {&band.forward, &band.backward}) {
      if (side->empty()) continue;
      const Rect frame = stage.view.at(*side);
      if (!frame.meets(stage.view.area())) continue;
      const float radius = std::min(stage.length(6), stage.ui.px(6));
      stage.ui.fill(frame, mix(theme.background, theme.panel, tint + 0.3), radius, stage.arrived);
      stage.ui.frame(frame, theme.line, radius);
      frame_title(stage, band, frame, side == &band.forward || band.forward.empty());
    }
  }
  for (const std::uint32_t b : stage.memory.visible.blocks) {
    const Band& band = stage.layout().bands[b];
    if (!band.backward.empty()) stage.ui.fill(stage.view.at(band.backward), theme.result, 1, 0.28);
    if (band.forward.empty()) continue;
    Rect bar = stage.view.at(band.forward);
    bar.bottom = std::max(bar.bottom - 1, bar.top + 1);
    composition(stage, bar, stage.marks.bands[b], 0.8);
    block_name(stage, band, bar);
  }
}

void draw_boxes(const Stage& stage) {
  const auto& boxes = stage.memory.visible.boxes;
  for (const std::uint32_t index : boxes) BoxPainter(stage, index).draw();
  if (!stage.names() || boxes.size() > kMostItems) return;
  for (const std::uint32_t index : boxes) add_item(stage, index);
}

// What was found, what the pointer is over, what is selected and what one change of the pass made
// together with it, what was chosen by hand.
void draw_selection(const Stage& stage) {
  const Ui& ui = stage.ui;
  const auto ring = [&](std::uint32_t box, Colour colour, float width) {
    const float by = std::max(2.0f, std::min(stage.length(3), ui.px(3)));
    const Rect rect = stage.rect_of(box).inset(-by, -by);
    if (rect.meets(stage.view.area())) ui.frame(rect, colour, ui.px(kRadius), width);
  };
  for (const std::uint32_t box : stage.memory.matched) ring(box, ui.theme.text, ui.px(1.2f));
  const auto box_of = [&](NodeId node) {
    return node.valid() ? stage.picture.box(node) : layout::BoxId();
  };
  const layout::BoxId hovered = box_of(stage.subject.selection.hovered);
  if (hovered.valid()) ring(hovered.index, mix(ui.theme.line, ui.theme.selection, 0.6), 1);
  const layout::BoxId selected = box_of(stage.subject.selection.node);
  const ShownGraph& shown = stage.subject.shown;
  for (const NodeId node :
       changed_together(shown.document->passes, stage.subject.selection.node, shown.pass))
    if (const layout::BoxId box = box_of(node); box.valid() && box.index != selected.index)
      ring(box.index, ui.theme.selection, ui.px(1.2f));
  if (selected.valid()) ring(selected.index, ui.theme.selection, ui.px(2));
  const auto pin = [&](const std::vector<std::string>& names, Colour colour) {
    for (const std::string& name : names) {
      const layout::BoxId box = box_of(stage.subject.shown.document->graph().find(name));
      if (!box.valid()) continue;
      const Rect rect = stage.rect_of(box.index);
      const ImVec2 corner{rect.right - stage.length(4), rect.top + stage.length(4)};
      ui.circle(corner, std::max(2.0f, stage.length(4)), colour);
      ui.ring(corner, std::max(2.0f, stage.length(4)), ui.theme.text, 1);
    }
  };
  if (stage.subject.pins == nullptr) return;
  pin(stage.subject.pins->save, ui.theme.saved);
  pin(stage.subject.pins->recompute, ui.theme.recomputed);
}

}  // namespace recut::gui

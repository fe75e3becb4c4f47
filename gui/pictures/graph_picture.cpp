#include "gui/pictures/graph_picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/ir/printer.h"
#include "engine/support/units.h"
#include "engine/support/utf8.h"
#include "gui/layout/lay_out.h"
#include "gui/layout/scene_of.h"
#include "gui/pictures/svg.h"

namespace recut::gui {
namespace {

using layout::Band;
using layout::Box;
using layout::Edge;
using layout::EdgeKind;
using layout::Role;
using layout::Side;
using layout::Stub;

constexpr double kGraphPictureMargin = 16;
constexpr double kStub = 10;         // its length
constexpr double kStubLabel = 130;   // the space for labels beside it
constexpr double kLargestText = 20;  // that boxes and headers have room for
constexpr double kArrow = 7;

// On paper parameters are left out where their group is closed: its box stands apart from all
// others, and says nothing but their number.
bool left_out(const layout::Scene& scene, const Box& box) {
  return !box.node.valid() && scene.groups[box.group.index].shelf;
}

// The bounds of the drawing on paper, with the lines beside boxes.
layout::Rect printed_bounds(const layout::Scene& scene, const layout::GraphLayout& layout) {
  layout::Rect bounds;
  for (const Box& box : layout.boxes)
    if (!left_out(scene, box)) bounds = bounds.united(box.rect);
  for (const Band& band : layout.bands) bounds = bounds.united(band.forward).united(band.backward);
  for (const layout::Point p : layout.points)
    bounds = bounds.united({p.x - 1, p.y - 1, p.x + 1, p.y + 1});
  return bounds;
}

// The size of the least text in units if the graph is printed at that width.
double text_in_print(const layout::Rect& bounds, double mm) {
  const double width = static_cast<double>(bounds.width()) + 2 * kGraphPictureMargin;
  return kMinPoints * width / (mm * kPointsInMm);
}

class LayoutPicture {
 public:
  LayoutPicture(const Graph& graph, const layout::Scene& scene, const layout::GraphLayout& layout,
                const PictureLook& look, const PictureRoles* roles)
      : graph_(graph),
        scene_(scene),
        layout_(layout),
        theme_(*look.theme),
        look_(look),
        roles_(roles),
        print_(look.print_mm > 0),
        svg_(look, look.theme->background) {
    const layout::Rect bounds = print_ ? printed_bounds(scene, layout) : layout.bounds;
    area_ = {bounds.left, bounds.top, bounds.right, bounds.bottom};
    if (print_) least_text_ = text_in_print(bounds, look.print_mm);
  }

  std::string draw() && {
    widen();
    head();
    for (const Band& band : layout_.bands) frames(band);
    for (std::size_t e = 0; e < layout_.edges.size(); ++e)
      if (layout_.edges[e].points > 0) route(e);
    for (std::size_t b = 0; b < layout_.boxes.size(); ++b)
      if (!print_ || !left_out(scene_, layout_.boxes[b]))
        draw_box(layout_.boxes[b], roles_ != nullptr ? roles_->boxes[b] : BoxRole());
    for (const Stub& mark : layout_.stubs) stub(mark);
    return std::move(svg_).finish(area_, graph_.name.empty() ? "graph" : graph_.name);
  }

 private:
  static PicturePoint at(layout::Point p) {
    return {static_cast<double>(p.x), static_cast<double>(p.y)};
  }
  static PicturePoint corner(const layout::Rect& rect) { return at({rect.left, rect.top}); }

  // The size of a text, which grows on paper until it can be read.
  double size(double usual) const { return std::max(usual, least_text_); }
  // The distance from the middle of a line of text to its baseline.
  double half(double usual) const { return 0.36 * size(usual); }

  // On a screen there is space for the labels beside stubs, on paper only for the graph.
  void widen() {
    const double beside = print_ ? kGraphPictureMargin : kStubLabel + kGraphPictureMargin;
    area_ = {area_.left - beside, area_.top - kGraphPictureMargin, area_.right + beside,
             area_.bottom + kGraphPictureMargin};
  }

  // Draws from the top: the title, the legend, the names of the sides.
  void head() {
    const double sides = size(12) * 1.6, title = look_.title ? 46 : 0;
    const double y = area_.top;
    area_.top -= sides + title + (roles_ != nullptr ? 26 : 0);
    if (look_.title) heading();
    if (roles_ != nullptr) legend(area_.top + title + 18);
    svg_.keep_labels_in(area_);
    const PicturePoint left{-40, y + size(12) * 0.4}, right{40, left.y};
    const TextStyle style{theme_.dim, size(12)};
    if (has(Side::forward)) svg_.label({{left, Anchor::end}}, {"forward ↓"}, style);
    if (has(Side::backward)) svg_.label({{right, Anchor::start}}, {"backward ↑"}, style);
  }

  bool has(Side side) const {
    return std::any_of(layout_.boxes.begin(), layout_.boxes.end(),
                       [&](const Box& box) { return box.side == side; });
  }

  void heading() {
    const double x = area_.left + 24, room = area_.right - area_.left - 48;
    const TextStyle name{theme_.text, 16, 600}, small{theme_.dim, 12};
    svg_.text({x, area_.top + 24}, fitted(graph_.name.empty() ? "graph" : graph_.name, name, room),
              name);
    const std::string facts = fmt::format(
        "{} nodes · {} boxes", format_count(static_cast<std::int64_t>(scene_.nodes.size())),
        format_count(static_cast<std::int64_t>(layout_.boxes.size())));
    svg_.text({x, area_.top + 44},
              fitted(roles_ != nullptr ? facts + " · " + roles_->plan : facts, small, room), small);
  }

  void legend(double y) {
    PicturePoint at{area_.left + 24, y};
    const TextStyle style{theme_.dim, 12};
    for (const auto& [role, text] : roles_->legend) {
      sign(role, at);
      svg_.text({at.x + 20, at.y}, text, style);
      at.x += 44 + text_width(text, style);
    }
    area_.right = std::max(area_.right, at.x);
  }

  // The sign of a role, as in the window: amber square, violet dashes, grey outline, green diamond.
  void sign(Role role, PicturePoint at) {
    const PicturePoint corner{at.x, at.y - 9};
    if (role == Role::saved) svg_.rectangle(corner, 12, 9, theme_.saved, 1);
    if (role == Role::recomputed) svg_.outline(corner, 12, 9, theme_.recomputed, 4, "3 2");
    if (role == Role::freed) svg_.outline(corner, 12, 9, theme_.freed, 1);
    if (role == Role::result) diamond({at.x + 6, at.y - 4.5}, 6);
  }

  void diamond(PicturePoint c, double r) {
    svg_.polygon({{c.x, c.y - r}, {c.x + r, c.y}, {c.x, c.y + r}, {c.x - r, c.y}}, theme_.result);
  }

  // The group's frames, labelled on both sides: the backward side may be far from the forward side.
  void frames(const Band& band) {
    const layout::Group& group = scene_.groups[band.group.index];
    for (const layout::Rect* frame : {&band.forward, &band.backward}) {
      if (frame->empty()) continue;
      const PicturePoint p = corner(*frame);
      const auto width = static_cast<double>(frame->width());
      svg_.rectangle(p, width, static_cast<double>(frame->height()),
                     band.depth % 2 == 1 ? theme_.panel : theme_.background, 5, 0.6);
      svg_.outline(p, width, static_cast<double>(frame->height()), theme_.frame, 5);
      const TextStyle style{theme_.dim, size(11), 600};
      svg_.text({p.x + 12, p.y + 15 + half(11)}, fitted(label_of(group), style, width - 24), style);
    }
  }

  static std::string label_of(const layout::Group& group) {
    return group.label + (group.equals > 1 ? fmt::format(" × {}", group.equals) : "");
  }

  Colour colour_of(EdgeKind kind) const {
    switch (kind) {
      case EdgeKind::saved:
        return theme_.saved;
      case EdgeKind::gradient:
        return theme_.result;
      case EdgeKind::parameter:
        return theme_.line;
      case EdgeKind::flow:
        break;
    }
    return theme_.faint;
  }

  // Draws a route; a recomputed value has no line across the channel, but a violet mark at its
  // reader.
  void route(std::size_t index) {
    const Edge& edge = layout_.edges[index];
    Colour colour = colour_of(edge.kind);
    if (roles_ != nullptr && edge.kind == EdgeKind::saved) {
      const RungRole& rung = roles_->rungs[index];
      if (!rung.saved && rung.again) return again(edge);
      if (!rung.saved) colour = theme_.faint;
    }
    std::vector<PicturePoint> points;
    for (const layout::Point p : layout_.route(edge)) points.push_back(at(p));
    const double width = 0.8 + 0.35 * edge.width_class;
    svg_.polyline(points, colour, width);
    for (std::size_t i = 0; i + 1 < points.size(); ++i)
      svg_.keep_clear_if_possible(points[i], points[i + 1]);
    if (points.size() > 1)
      svg_.arrowhead(points[points.size() - 2], points.back(), colour, kArrow + width);
  }

  void again(const Edge& edge) {
    const layout::Rect& to = layout_.boxes[edge.to.index].rect;
    const PicturePoint end = at({to.left, (to.top + to.bottom) / 2});
    svg_.line({end.x - 30, end.y}, end, theme_.recomputed, 1.2, "4 3");
    svg_.arrowhead({end.x - 30, end.y}, end, theme_.recomputed, kArrow);
    svg_.circle({end.x - 34, end.y}, 4, theme_.background, theme_.recomputed);
  }

  std::string name_of(const Box& box) const {
    if (box.node.valid()) return graph_.node_name(box.node);
    return scene_.groups[box.group.index].label;
  }

  void stub(const Stub& mark) {
    if (print_ && mark.kind == EdgeKind::parameter) return;
    const PicturePoint from = at(mark.at);
    const auto dx = static_cast<double>(mark.direction.x),
               dy = static_cast<double>(mark.direction.y);
    const PicturePoint to{from.x + dx * kStub, from.y + dy * kStub};
    const Colour colour = colour_of(mark.kind);
    svg_.line(from, to, colour, 1.2);
    if (mark.kind == EdgeKind::parameter) return;
    if (mark.incoming)
      svg_.arrowhead(to, from, colour, kArrow);
    else
      svg_.circle(to, 2.2, theme_.background, colour);
    const Edge& first = layout_.edges[layout_.stub_edges[mark.first_edge]];
    const Box& other = layout_.boxes[(mark.incoming ? first.from : first.to).index];
    const std::string text =
        mark.edges == 1 ? name_of(other) : fmt::format("{} values", mark.edges);
    const TextStyle style{theme_.faint, size(9), 400, Anchor::start, true};
    const Anchor anchor = dx < 0 ? Anchor::end : Anchor::start;
    svg_.label({{{to.x + (dx < 0 ? -5 : 5), to.y + 3}, anchor}}, {fitted(text, style, kStubLabel)},
               style, print_);
  }

  void draw_box(const Box& box, const BoxRole& role) {
    const PicturePoint p = corner(box.rect);
    const auto width = static_cast<double>(box.rect.width()),
               height = static_cast<double>(box.rect.height());
    const bool group = !box.node.valid();
    ground(box, role.role, p, width, height);
    if (group) composition({p.x + 3, p.y + height - 3}, width - 6, role);
    if (role.result) diamond({p.x + width, p.y + height / 2}, 5.5);
    texts_in_box(box, role, p, width, height / 2);
    svg_.keep_clear({p.x, p.y, p.x + width, p.y + height});
    if (!group) svg_.hint(p, width, height, print_node(graph_, box.node));
  }

  // Draws the name at the left, and shape or count at the right; on paper these only if the name is
  // whole.
  void texts_in_box(const Box& box, const BoxRole& role, PicturePoint p, double width,
                    double middle) {
    const bool group = !box.node.valid();
    const TextStyle large{theme_.text, size(12), group ? 600 : 400};
    const TextStyle small{theme_.dim, size(10), 400, Anchor::end, true};
    const std::string name = group ? label_of(scene_.groups[box.group.index]) : name_of(box);
    std::string right = right_label(box, role);
    if (print_ && text_width(name, large) + text_width(right, small) > width - 26) right.clear();
    const double room = width - 26 - text_width(right, small);
    svg_.text({p.x + width - 8, p.y + middle + half(10)}, right, small);
    svg_.text({p.x + 10, p.y + middle + half(12)}, fitted(name, large, room), large);
  }

  // Draws the box's role by colour and shape: saved square with a bar, recomputed round and dashed.
  void ground(const Box& box, Role role, PicturePoint p, double width, double height) {
    const bool view = box.node.valid() && box.importance == 0;
    const bool saved = role == Role::saved, again = role == Role::recomputed;
    const Colour plain = box.side == Side::backward ? theme_.result : theme_.faint;
    const Colour line = saved ? theme_.saved : again ? theme_.recomputed : plain;
    const double radius = saved ? 0 : again ? 8 : 4;
    const double tint = saved ? 0.17 : again ? 0.12 : 0;
    const Colour fill = view ? theme_.background : theme_.raised;
    svg_.rectangle(p, width, height, tint > 0 ? mix(theme_.panel, line, tint) : fill, radius);
    svg_.outline(p, width, height, line, radius, again ? "4 3" : view && !saved ? "2 3" : "");
    if (saved && !view) svg_.rectangle(p, 4, height, theme_.saved);
  }

  // Draws the counts of saved, repeated and other nodes of a closed group.
  void composition(PicturePoint p, double width, const BoxRole& role) {
    const double all = role.saved + role.again + role.others;
    if (all <= 0) return svg_.rectangle(p, width, 3, theme_.line, 1);
    const std::pair<std::uint32_t, Colour> parts[] = {
        {role.saved, theme_.saved}, {role.again, theme_.recomputed}, {role.others, theme_.freed}};
    for (const auto& [count, colour] : parts) {
      if (count == 0) continue;
      svg_.rectangle(p, width * count / all, 3, colour);
      p.x += width * count / all;
    }
  }

  std::string right_label(const Box& box, const BoxRole& role) const {
    if (box.node.valid()) return shorten_back(format_shape(graph_.type(box.node).shape), 14);
    if (box.side == Side::forward && role.bytes > 0)
      return fmt::format("{} · {} saved", box.nodes, format_bytes(role.bytes));
    return fmt::format("{}", box.nodes);
  }

  const Graph& graph_;
  const layout::Scene& scene_;
  const layout::GraphLayout& layout_;
  const Theme& theme_;
  PictureLook look_;
  const PictureRoles* roles_;  // null: no plan
  bool print_;
  double least_text_ = 0;  // units; 0: as on a screen
  LabelBox area_;
  Svg svg_;
};

layout::GraphLayout laid_out(const layout::Scene& scene, const layout::Expansion& open) {
  layout::LayoutCache cache;
  return std::move(*layout::lay_out(scene, open, cache));
}

layout::Expansion all_open() {
  layout::Expansion open;
  open.all = true;
  return open;
}

// The layout with just enough groups closed to make its text readable; the outermost groups stay.
layout::GraphLayout readable_layout(const layout::Scene& scene, double mm) {
  layout::GraphLayout layout = laid_out(scene, all_open());
  for (std::size_t boxes = 256; boxes > 0; boxes /= 2) {
    if (text_in_print(printed_bounds(scene, layout), mm) <= kLargestText) return layout;
    layout = laid_out(scene, layout::default_expansion(scene, boxes));
  }
  return layout;
}

}  // namespace

std::string graph_svg(const Graph& graph, const PictureLook& look) {
  const layout::Scene scene = layout::scene_of(graph);
  if (look.print_mm <= 0) return layout_svg(graph, scene, laid_out(scene, all_open()), look);
  PictureLook wide = look;
  wide.print_mm = std::max(look.print_mm, least_print_mm(graph));
  return layout_svg(graph, scene, readable_layout(scene, wide.print_mm), wide);
}

double least_print_mm(const Graph& graph) {
  const layout::Scene scene = layout::scene_of(graph);
  const layout::GraphLayout closed = laid_out(scene, layout::default_expansion(scene, 1));
  // Rounded up to whole millimetres, as users write them.
  return std::ceil(text_in_print(printed_bounds(scene, closed), 1) / kLargestText);
}

std::string layout_svg(const Graph& graph, const layout::Scene& scene,
                       const layout::GraphLayout& layout, const PictureLook& look,
                       const PictureRoles* roles) {
  return LayoutPicture(graph, scene, layout, look, roles).draw();
}

}  // namespace recut::gui

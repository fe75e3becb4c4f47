#include "gui/pictures/graph_picture.h"

#include <fmt/core.h>

#include "engine/ir/printer.h"
#include "engine/support/units.h"
#include "engine/support/utf8.h"
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

constexpr double kGraphPictureMargin = 40, kGraphPictureTitle = 56, kGraphPictureLegend = 26;
constexpr double kStub = 10;        // its length
constexpr std::size_t kLabel = 22;  // characters beside a stub

class LayoutPicture {
 public:
  LayoutPicture(const Graph& graph, const layout::Scene& scene, const layout::GraphLayout& layout,
                const Theme& theme, const PictureRoles* roles)
      : graph_(graph),
        scene_(scene),
        layout_(layout),
        theme_(theme),
        roles_(roles),
        dx_(kGraphPictureMargin * 4 - static_cast<double>(layout.bounds.left)),
        head_(kGraphPictureTitle + (roles != nullptr ? kGraphPictureLegend : 0)),
        dy_(kGraphPictureMargin + head_ - static_cast<double>(layout.bounds.top)),
        svg_(static_cast<double>(layout.bounds.width()) + 8 * kGraphPictureMargin,
             static_cast<double>(layout.bounds.height()) + 2 * kGraphPictureMargin + head_,
             theme.background) {}

  std::string draw() && {
    title();
    for (const Band& band : layout_.bands) frames(band);
    for (std::size_t e = 0; e < layout_.edges.size(); ++e)
      if (layout_.edges[e].points > 0) route(e);
    for (const Stub& mark : layout_.stubs) stub(mark);
    for (std::size_t b = 0; b < layout_.boxes.size(); ++b)
      draw_box(layout_.boxes[b], roles_ != nullptr ? roles_->boxes[b] : BoxRole());
    return std::move(svg_).finish();
  }

 private:
  PicturePoint at(layout::Point p) const {
    return {static_cast<double>(p.x) + dx_, static_cast<double>(p.y) + dy_};
  }
  PicturePoint corner(const layout::Rect& rect) const { return at({rect.left, rect.top}); }

  void title() {
    svg_.text({24, 36}, graph_.name.empty() ? "graph" : graph_.name, {theme_.text, 16, 600});
    const std::string facts = fmt::format(
        "{} nodes · {} boxes", format_count(static_cast<std::int64_t>(scene_.nodes.size())),
        format_count(static_cast<std::int64_t>(layout_.boxes.size())));
    svg_.text({24, 58}, roles_ != nullptr ? facts + " · " + roles_->plan : facts, {theme_.dim, 12});
    const double x = dx_;
    svg_.text({x - 130, head_ + 16}, "forward", {theme_.dim, 12, 400, Anchor::end});
    svg_.text({x + 130, head_ + 16}, "backward", {theme_.dim, 12});
    if (roles_ != nullptr) legend();
  }

  void legend() {
    PicturePoint at{24, 80};
    const TextStyle style{theme_.dim, 12};
    for (const auto& [role, words] : roles_->legend) {
      sign(role, at);
      svg_.text({at.x + 20, at.y}, words, style);
      at.x += 44 + text_width(words, style);
    }
  }

  // As the window has it: amber square, violet dashes, grey outline, green diamond.
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

  void frames(const Band& band) {
    const layout::Group& group = scene_.groups[band.group.index];
    for (const layout::Rect* frame : {&band.forward, &band.backward}) {
      if (frame->empty()) continue;
      const PicturePoint p = corner(*frame);
      svg_.rectangle(p, static_cast<double>(frame->width()), static_cast<double>(frame->height()),
                     band.depth % 2 == 1 ? theme_.panel : theme_.background, 5, 0.6);
      svg_.outline(p, static_cast<double>(frame->width()), static_cast<double>(frame->height()),
                   theme_.line, 5);
    }
    const layout::Rect& main = band.forward.empty() ? band.backward : band.forward;
    if (main.empty()) return;
    const PicturePoint p = corner(main);
    svg_.text({p.x + 12, p.y + 19}, label_of(group, 40), {theme_.dim, 11, 600});
  }

  std::string label_of(const layout::Group& group, std::size_t room) const {
    const std::string times = group.equals > 1 ? fmt::format(" × {}", group.equals) : "";
    return shorten_back(group.label, room) + times;
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

  // A value that runs again has no line across: a violet mark says it where it is read.
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
    svg_.polyline(points, colour, 0.8 + 0.35 * edge.width_class);
  }

  void again(const Edge& edge) {
    const layout::Rect& to = layout_.boxes[edge.to.index].rect;
    const PicturePoint end = at({to.left, (to.top + to.bottom) / 2});
    svg_.line({end.x - 30, end.y}, end, theme_.recomputed, 1.2, "4 3");
    svg_.circle({end.x - 34, end.y}, 4, theme_.background, theme_.recomputed);
  }

  std::string name_of(const Box& box) const {
    if (box.node.valid()) return graph_.node_name(box.node);
    return scene_.groups[box.group.index].label;
  }

  void stub(const Stub& mark) {
    const PicturePoint from = at(mark.at);
    const auto dx = static_cast<double>(mark.direction.x),
               dy = static_cast<double>(mark.direction.y);
    const PicturePoint to{from.x + dx * kStub, from.y + dy * kStub};
    const Colour colour = colour_of(mark.kind);
    svg_.line(from, to, colour, 1.2);
    if (mark.kind == EdgeKind::parameter) return;
    svg_.circle(to, 2.2, theme_.background, colour);
    const Edge& first = layout_.edges[layout_.stub_edges[mark.first_edge]];
    const Box& other = layout_.boxes[(mark.incoming ? first.from : first.to).index];
    const std::string words = mark.edges == 1 ? shorten_back(name_of(other), kLabel)
                                              : fmt::format("{} values", mark.edges);
    const Anchor anchor = dx < 0 ? Anchor::end : Anchor::start;
    svg_.text({to.x + (dx < 0 ? -5 : 5), to.y + 3}, words, {theme_.faint, 9, 400, anchor, true});
  }

  void draw_box(const Box& box, const BoxRole& role) {
    const PicturePoint p = corner(box.rect);
    const auto width = static_cast<double>(box.rect.width()),
               height = static_cast<double>(box.rect.height());
    const bool group = !box.node.valid();
    ground(box, role.role, p, width, height);
    if (group) composition({p.x + 3, p.y + height - 3}, width - 6, role);
    if (role.result) diamond({p.x + width, p.y + height / 2}, 5.5);
    const std::string right = right_label(box, role);
    const TextStyle small{theme_.dim, 10, 400, Anchor::end, true};
    svg_.text({p.x + width - 8, p.y + 18}, right, small);
    const double room = width - 26 - text_width(right, small);
    const std::string name =
        group ? label_of(scene_.groups[box.group.index], 18)
              : shorten_back(name_of(box), static_cast<std::size_t>(std::max(4.0, room / 6.6)));
    svg_.text({p.x + 10, p.y + 18}, name, {theme_.text, 12, group ? 600 : 400});
    if (!group) svg_.hint(p, width, height, print_node(graph_, box.node));
  }

  // Its role by colour and by shape: saved square with a bar, recomputed round and dashed.
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

  // What of a closed group is saved, runs again, and neither.
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
  const PictureRoles* roles_;  // null: no plan
  double dx_, head_, dy_;
  Svg svg_;
};

}  // namespace

std::string graph_svg(const Graph& graph, const Theme& theme) {
  const layout::Scene scene = layout::scene_of(graph);
  layout::Expansion everything;
  everything.all = true;
  layout::LayoutCache cache;
  return layout_svg(graph, scene, *layout::lay_out(scene, everything, cache), theme);
}

std::string layout_svg(const Graph& graph, const layout::Scene& scene,
                       const layout::GraphLayout& layout, const Theme& theme,
                       const PictureRoles* roles) {
  return LayoutPicture(graph, scene, layout, theme, roles).draw();
}

}  // namespace recut::gui

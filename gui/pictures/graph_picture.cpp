#include "gui/pictures/graph_picture.h"

#include <fmt/format.h>

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

constexpr double kMargin = 40, kTitle = 56;
constexpr double kStub = 10;        // its length
constexpr std::size_t kLabel = 22;  // characters beside a stub

class LayoutPicture {
 public:
  LayoutPicture(const Graph& graph, const layout::Scene& scene, const layout::GraphLayout& layout,
                const Theme& theme)
      : graph_(graph),
        scene_(scene),
        layout_(layout),
        theme_(theme),
        dx_(kMargin * 4 - static_cast<double>(layout.bounds.left)),
        dy_(kMargin + kTitle - static_cast<double>(layout.bounds.top)),
        svg_(static_cast<double>(layout.bounds.width()) + 8 * kMargin,
             static_cast<double>(layout.bounds.height()) + 2 * kMargin + kTitle, theme.background) {
  }

  std::string draw() && {
    title();
    for (const Band& band : layout_.bands) frames(band);
    for (const Edge& edge : layout_.edges)
      if (edge.points > 0) route(edge);
    for (const Stub& mark : layout_.stubs) stub(mark);
    for (const Box& box : layout_.boxes) draw_box(box);
    return std::move(svg_).finish();
  }

 private:
  Point at(layout::Point p) const {
    return {static_cast<double>(p.x) + dx_, static_cast<double>(p.y) + dy_};
  }
  Point corner(const layout::Rect& rect) const { return at({rect.left, rect.top}); }

  void title() {
    svg_.text({24, 36}, graph_.name.empty() ? "graph" : graph_.name, {theme_.text, 16, 600});
    const std::string facts = fmt::format(
        "{} nodes · {} boxes", format_count(static_cast<std::int64_t>(scene_.nodes.size())),
        format_count(static_cast<std::int64_t>(layout_.boxes.size())));
    svg_.text({24, 58}, facts, {theme_.dim, 12});
    const double x = dx_;
    svg_.text({x - 130, kTitle + 16}, "forward", {theme_.dim, 12, 400, Anchor::end});
    svg_.text({x + 130, kTitle + 16}, "backward", {theme_.dim, 12});
  }

  void frames(const Band& band) {
    const layout::Group& group = scene_.groups[band.group.index];
    for (const layout::Rect* frame : {&band.forward, &band.backward}) {
      if (frame->empty()) continue;
      const Point p = corner(*frame);
      svg_.rectangle(p, static_cast<double>(frame->width()), static_cast<double>(frame->height()),
                     band.depth % 2 == 1 ? theme_.panel : theme_.background, 5, 0.6);
      svg_.outline(p, static_cast<double>(frame->width()), static_cast<double>(frame->height()),
                   theme_.line, 5);
    }
    const layout::Rect& main = band.forward.empty() ? band.backward : band.forward;
    if (main.empty()) return;
    const Point p = corner(main);
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

  void route(const Edge& edge) {
    std::vector<Point> points;
    for (const layout::Point p : layout_.route(edge)) points.push_back(at(p));
    svg_.polyline(points, colour_of(edge.kind), 0.8 + 0.35 * edge.width_class);
  }

  std::string name_of(const Box& box) const {
    if (box.node.valid()) return graph_.node_name(box.node);
    return scene_.groups[box.group.index].label;
  }

  void stub(const Stub& mark) {
    const Point from = at(mark.at);
    const auto dx = static_cast<double>(mark.direction.x),
               dy = static_cast<double>(mark.direction.y);
    const Point to{from.x + dx * kStub, from.y + dy * kStub};
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

  void draw_box(const Box& box) {
    const Point p = corner(box.rect);
    const auto width = static_cast<double>(box.rect.width()),
               height = static_cast<double>(box.rect.height());
    const bool group = !box.node.valid();
    const bool view = !group && box.importance == 0;
    const bool backward = box.side == Side::backward;
    const bool saved = box.role == Role::saved;
    svg_.rectangle(p, width, height, view ? theme_.background : theme_.raised, 4);
    svg_.outline(p, width, height,
                 saved      ? theme_.saved
                 : backward ? theme_.result
                            : theme_.faint,
                 saved ? 0 : 4,
                 box.role == Role::recomputed ? "4 3"
                 : view                       ? "2 3"
                                              : "");
    if (group) svg_.rectangle({p.x + 3, p.y + height}, width - 6, 3, theme_.line, 1);
    const std::string right = right_label(box);
    const TextStyle small{theme_.dim, 10, 400, Anchor::end, true};
    svg_.text({p.x + width - 8, p.y + 18}, right, small);
    const double room = width - 26 - text_width(right, small);
    const std::string name =
        group ? label_of(scene_.groups[box.group.index], 18)
              : shorten_back(name_of(box), static_cast<std::size_t>(std::max(4.0, room / 6.6)));
    svg_.text({p.x + 10, p.y + 18}, name, {theme_.text, 12, group ? 600 : 400});
    if (!group) svg_.hint(p, width, height, print_node(graph_, box.node));
  }

  std::string right_label(const Box& box) const {
    if (box.node.valid()) return shorten_back(format_shape(graph_.type(box.node).shape), 14);
    if (box.side == Side::forward && box.bytes > 0)
      return fmt::format("{} · {}", box.nodes, format_bytes(box.bytes));
    return fmt::format("{}", box.nodes);
  }

  const Graph& graph_;
  const layout::Scene& scene_;
  const layout::GraphLayout& layout_;
  const Theme& theme_;
  double dx_, dy_;
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
                       const layout::GraphLayout& layout, const Theme& theme) {
  return LayoutPicture(graph, scene, layout, theme).draw();
}

}  // namespace recut::gui

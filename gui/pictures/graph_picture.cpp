#include "gui/pictures/graph_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/ir/printer.h"
#include "engine/support/units.h"
#include "engine/support/utf8.h"
#include "gui/pictures/mirror_layout.h"
#include "gui/pictures/svg.h"

namespace recut::gui {
namespace {

constexpr double kRow = 30, kBox = 22, kBoxWidth = 300;
constexpr double kForwardX = 170, kBackwardX = 730, kTop = 90, kWidth = 1200;
constexpr std::size_t kLongEdge = 12;  // rows; an edge that spans more is drawn as two stubs

class Picture {
 public:
  Picture(const Graph& graph, const Theme& theme)
      : graph_(graph),
        theme_(theme),
        layout_(mirror_layout(graph)),
        svg_(kWidth, kTop + kRow * static_cast<double>(layout_.rows) + 30, theme.background) {
    for (const NodeId id : graph.results)
      if (id.valid()) outputs_.insert(id);
    for (const NodeId id : graph.gradients)
      if (id.valid()) outputs_.insert(id);
  }

  std::string draw() && {
    svg_.text({24, 36}, graph_.name.empty() ? "graph" : graph_.name, {theme_.text, 16, 600});
    svg_.text(
        {24, 58},
        fmt::format("{} nodes", format_count(static_cast<std::int64_t>(layout_.placed.size()))),
        {theme_.dim, 12});
    svg_.text({kForwardX, 70}, "forward", {theme_.dim, 12});
    svg_.text({kBackwardX, 70}, "backward", {theme_.dim, 12});
    for (const Placed& placed : layout_.placed) edges(placed);
    for (const Placed& placed : layout_.placed) box(placed);
    return std::move(svg_).finish();
  }

 private:
  static double left_of(const Placed& p) { return p.backward ? kBackwardX : kForwardX; }
  static double middle_of(const Placed& p) {
    return kTop + kRow * static_cast<double>(p.row) + kBox / 2;
  }

  void edges(const Placed& user) {
    for (const NodeId operand : graph_[user.node].operands) {
      const Placed& source = layout_.placed[graph_.position(operand)];
      const double width = std::min(
          6.0, 1.0 + std::max(0.0, std::log2(static_cast<double>(byte_size(graph_.type(operand))) /
                                                 1048576.0 +
                                             1)));
      if (source.backward != user.backward)
        rung(source, user, width);
      else
        same_side(source, user, width);
    }
  }

  // Forward to backward (or back): across the middle; a long one as a stub that names its source.
  void rung(const Placed& source, const Placed& user, double width) {
    const double y0 = middle_of(source), y1 = middle_of(user);
    const double x0 = source.backward ? kBackwardX : kForwardX + kBoxWidth;
    const double x1 = user.backward ? kBackwardX : kForwardX + kBoxWidth;
    const bool is_parameter = graph_.op(source.node).is(kInput);
    const Colour colour = is_parameter ? theme_.line : theme_.saved;
    if (std::abs(y1 - y0) <= kRow * kLongEdge) return svg_.line({x0, y0}, {x1, y1}, colour, width);
    svg_.line({x1 - 24, y1}, {x1, y1}, colour, width);
  }

  // Within a column: along its outer side, each span of rows in a lane of its own.
  void same_side(const Placed& source, const Placed& user, double width) {
    const double y0 = middle_of(source), y1 = middle_of(user);
    const std::size_t span = source.row > user.row ? source.row - user.row : user.row - source.row;
    if (span <= 1) {
      const double x = left_of(user) + 40;
      return svg_.line({x, y0 + (y1 > y0 ? kBox / 2 : -kBox / 2)},
                       {x, y1 + (y1 > y0 ? -kBox / 2 : kBox / 2)}, theme_.faint, width);
    }
    const double out = user.backward ? 1 : -1;
    const double edge = user.backward ? kBackwardX + kBoxWidth : kForwardX;
    if (span > kLongEdge) return svg_.line({edge, y1}, {edge + out * 10, y1}, theme_.faint, width);
    const double lane = edge + out * (8.0 + 5.0 * static_cast<double>(span));
    svg_.polyline({{edge, y0 + 4}, {lane, y0 + 4}, {lane, y1 - 4}, {edge, y1 - 4}}, theme_.line,
                  width);
  }

  void box(const Placed& placed) {
    const Operator& op = graph_.op(placed.node);
    const Point corner{left_of(placed), middle_of(placed) - kBox / 2};
    const bool output = outputs_.count(placed.node) != 0;
    const Colour edge = output ? theme_.result : op.is(kInput) ? theme_.selection : theme_.faint;
    svg_.rectangle(corner, kBoxWidth, kBox, op.is(kView) ? theme_.background : theme_.panel, 4);
    svg_.outline(corner, kBoxWidth, kBox, edge, 4, op.is(kView) ? "2 3" : "");
    const std::string type = format(graph_.type(placed.node));
    const TextStyle type_style{theme_.dim, 10, 400, Anchor::end, true};
    svg_.text({corner.x + kBoxWidth - 8, corner.y + 15}, type, type_style);
    const auto room = static_cast<std::size_t>(
        std::max(4.0, (kBoxWidth - 24 - text_width(type, type_style)) / 6.6));
    svg_.text({corner.x + 8, corner.y + 15}, shorten_back(graph_.node_name(placed.node), room),
              {theme_.text, 12});
    svg_.hint(corner, kBoxWidth, kBox, print_node(graph_, placed.node));
  }

  const Graph& graph_;
  const Theme& theme_;
  MirrorLayout layout_;
  Svg svg_;
  std::set<NodeId> outputs_;
};

}  // namespace

std::string graph_svg(const Graph& graph, const Theme& theme) {
  return Picture(graph, theme).draw();
}

}  // namespace recut::gui

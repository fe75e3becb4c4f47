#include "gui/layout/routes.h"

#include <cmath>
#include <initializer_list>

#include "gui/layout/lanes.h"

namespace recut::gui::layout {
namespace {

constexpr float kLongestRung = 6 * kPitch;
constexpr int kChannelLanes = 15;
constexpr float kLanesMiddle = 20;  // right of the channel's, as a rung's label stands on the left
constexpr int kSideLanes = 4;       // along a frame's outer edge
constexpr int kBesideLanes = 3;     // in the gap beside a column
constexpr std::uint64_t kChannelBundle = ~std::uint64_t{0};

using Line = std::vector<Point>;

// The bands around boxes.
class Nesting {
 public:
  explicit Nesting(const GraphLayout& layout)
      : band_of_(layout.boxes.size(), 0), parent_(layout.bands.size(), 0) {
    for (std::uint32_t b = 0; b < layout.bands.size(); ++b) {
      const Band& band = layout.bands[b];
      for (std::uint32_t i = 0; i < band.boxes; ++i) band_of_[band.first_box + i] = b;
      for (std::uint32_t child = b + 1; child < band.end; child = layout.bands[child].end)
        parent_[child] = b;
    }
  }
  std::uint32_t around(BoxId a, BoxId b) const {
    std::uint32_t x = band_of_[a.index], y = band_of_[b.index];
    while (x != y) (x > y ? x : y) = parent_[x > y ? x : y];  // parents have lower numbers
    return x;
  }

 private:
  std::vector<std::uint32_t> band_of_, parent_;
};

// Finds routes by trial. Each short edge tries a few polylines, the plainest first, and keeps the
// first one whose pieces meet no box of the grid:
//   straight  ⇒  a bend into the target  ⇒  the gap beside a column  ⇒  the group's frame
// An edge without a free polyline is left to stubs. Long pieces take lanes (lanes.h), so that
// parallel ones don't cover each other. An edge costs a constant number of grid queries. Layered
// routing would need a dummy vertex for every row that an edge spans (graph_layout.h).
class Router {
 public:
  explicit Router(GraphLayout& out)
      : out_(out), nesting_(out), out_degree_(out.boxes.size(), 0), in_degree_(out_degree_) {
    for (const Edge& edge : out.edges) {
      ++out_degree_[edge.from.index];
      ++in_degree_[edge.to.index];
    }
  }

  bool run(Stopper& stop) {
    std::vector<std::uint32_t> owner(out_.edges.size(), 0);
    BoxId last;
    for (std::uint32_t e = 0; e < out_.edges.size(); ++e) {
      if (stop(4)) return false;
      Edge& edge = out_.edges[e];
      if (edge.to != last) slot_ = 0;
      last = edge.to;
      band_ = nesting_.around(edge.from, edge.to);
      owner[e] = band_;
      const bool routed = edge.kind == EdgeKind::saved       ? rung(edge)
                          : edge.kind == EdgeKind::parameter ? false
                                                             : vertical(edge);
      if (!routed) continue;
      edge.first_point = static_cast<std::uint32_t>(out_.points.size());
      edge.points = static_cast<std::uint32_t>(line_.size());
      out_.points.insert(out_.points.end(), line_.begin(), line_.end());
      ++slot_;
    }
    sort_by_band(owner);
    return true;
  }

 private:
  const Rect& rect(BoxId box) const { return out_.boxes[box.index].rect; }

  bool has_many(const Edge& edge) const {
    return out_degree_[edge.from.index] > kManyEdges || in_degree_[edge.to.index] > kManyEdges;
  }

  bool is_clear(Point a, Point b) const {
    const Rect piece{std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x),
                     std::max(a.y, b.y)};
    return !out_.grid.any(piece,
                          [&](std::uint32_t box) { return out_.boxes[box].rect.overlaps(piece); });
  }

  bool accept(std::initializer_list<Point> line) {
    line_.clear();
    for (const Point p : line) {
      if (!line_.empty() && line_.back() == p) continue;
      const std::size_t n = line_.size();
      const bool straight =
          n >= 2 && ((line_[n - 2].x == line_[n - 1].x && p.x == line_[n - 1].x) ||
                     (line_[n - 2].y == line_[n - 1].y && p.y == line_[n - 1].y));
      if (straight) line_.pop_back();
      line_.push_back(p);
    }
    for (std::size_t i = 1; i < line_.size(); ++i)
      if (!is_clear(line_[i - 1], line_[i])) return false;
    return line_.size() >= 2;
  }

  // Along the direction of a side: from one border to the facing one of another row.
  bool vertical(const Edge& edge) {
    const Rect &from = rect(edge.from), &to = rect(edge.to);
    const float down = edge.kind == EdgeKind::gradient ? -1 : 1;
    const float y0 = down > 0 ? from.bottom : from.top, y1 = down > 0 ? to.top : to.bottom;
    const float span = (y1 - y0) * down;
    if (span < kRowGap - 1 || span > kLongest) return false;
    if (has_many(edge) && span > 2 * kPitch) return false;
    const float x0 = from.centre().x, centre = to.centre().x;
    if (x0 == centre && accept({{x0, y0}, {x0, y1}})) return true;
    // Into the target on the side where the source stands, later edges further out.
    const float outwards = edge.kind == EdgeKind::gradient ? 1 : -1;
    const float side = x0 == centre ? outwards : x0 < centre ? -1 : 1;
    const float x1 =
        centre + side * std::min(kBoxWidth / 2 - 8, 24 + 14 * static_cast<float>(slot_));
    const float turn0 = y0 + down * track(edge.from), turn1 = y1 - down * track(edge.from);
    if (accept({{x0, y0}, {x0, turn0}, {x1, turn0}, {x1, y1}})) return true;
    if (span <= kRowGap + 1) return false;
    if (accept({{x0, y0}, {x0, turn1}, {x1, turn1}, {x1, y1}})) return true;
    const Passage passage{{x0, y0}, {centre, y1}, turn0, turn1, outwards};
    return beside(edge, passage) || along_frame(edge, passage);
  }

  struct Passage {
    Point from, to;
    float turn0, turn1;  // where it leaves and enters its rows
    float outwards;
  };

  // The height of a row's horizontal pieces in the gap next to it: spread by column.
  float track(BoxId box) const {
    return 7 + 4 * static_cast<float>(out_.boxes[box.index].column % 4);
  }

  bool pass(const Passage& p, std::uint64_t bundle, float x, float step, int lanes) {
    const float low = std::min(p.turn0, p.turn1), high = std::max(p.turn0, p.turn1);
    const int lane = lanes_.find(bundle, low, high, lanes);
    if (lane < 0) return false;
    const float at = x + p.outwards * step * static_cast<float>(lane);
    const float port =
        p.to.x + p.outwards * std::min(kBoxWidth / 2 - 8, 30 + 14 * static_cast<float>(slot_));
    if (!accept({p.from,
                 {p.from.x, p.turn0},
                 {at, p.turn0},
                 {at, p.turn1},
                 {port, p.turn1},
                 {port, p.to.y}}))
      return false;
    lanes_.take(bundle, low, high, lane);
    return true;
  }

  // Tries a route down the gap next to the outer one of the two columns.
  bool beside(const Edge& edge, const Passage& p) {
    const float x = p.outwards < 0 ? std::min(rect(edge.from).left, rect(edge.to).left)
                                   : std::max(rect(edge.from).right, rect(edge.to).right);
    const float first = x + p.outwards * 8;
    const auto bundle = static_cast<std::uint64_t>(static_cast<std::int64_t>(first)) * 2 + 1;
    return pass(p, bundle, first, 6, kBesideLanes);
  }

  // Tries a route down the outer edge of the group that holds both.
  bool along_frame(const Edge&, const Passage& p) {
    const Band& band = out_.bands[band_];
    const bool root = band_ == 0;
    const Rect& frame = p.outwards < 0 ? band.forward : band.backward;
    float x = p.outwards < 0 ? frame.left + 10 + 8 * (kSideLanes - 1)
                             : frame.right - 10 - 8 * (kSideLanes - 1);
    if (root) x = p.outwards < 0 ? out_.bounds.left - 12 : out_.bounds.right + 12;
    const std::uint64_t bundle = std::uint64_t{band_} * 4 + (p.outwards < 0 ? 0 : 2);
    return pass(p, bundle, x, 8, kSideLanes);
  }

  bool rung(const Edge& edge) {
    const Rect &from = rect(edge.from), &to = rect(edge.to);
    const float distance = std::abs(to.top - from.top);
    if (out_.boxes[edge.to.index].side != Side::backward || distance > kLongestRung) return false;
    if (has_many(edge) && distance > kPitch) return false;
    if (from.top == to.top && accept({{from.right, from.centre().y}, {to.left, to.centre().y}}))
      return true;
    // Each on a line of its own: in the middle within a row, else it leaves near the middle and
    // enters on the half that it comes from, further out.
    constexpr float kLeave = 5;
    constexpr float kEnter[] = {9, 13, 7, 11};
    const float half = to.top > from.top ? -1 : 1;
    const float y0 = from.centre().y - half * kLeave;
    const float y1 = to.centre().y + half * kEnter[slot_ % 4];
    const float low = std::min(from.top, to.top), high = std::max(from.bottom, to.bottom);
    const int lane = lanes_.find(kChannelBundle, low, high, kChannelLanes);
    if (lane < 0) return false;
    const float x = kLanesMiddle + 8 * beside_middle(lane);
    const float under0 = from.bottom + track(edge.from), under1 = to.bottom + track(edge.to);
    const float x0 = from.centre().x + 40;
    const float x1 = to.centre().x - 40 + 8 * static_cast<float>(slot_ % 4);
    const bool found =
        accept({{from.right, y0}, {x, y0}, {x, y1}, {to.left, y1}}) ||
        accept({{x0, from.bottom}, {x0, under0}, {x, under0}, {x, y1}, {to.left, y1}}) ||
        accept({{from.right, y0}, {x, y0}, {x, under1}, {x1, under1}, {x1, to.bottom}}) ||
        accept({{x0, from.bottom},
                {x0, under0},
                {x, under0},
                {x, under1},
                {x1, under1},
                {x1, to.bottom}});
    if (found) lanes_.take(kChannelBundle, low, high, lane);
    return found;
  }

  // 0, 1, -1, 2, -2, …
  static float beside_middle(int i) {
    const auto step = static_cast<float>((i + 1) / 2);
    return i % 2 == 1 ? step : -step;
  }

  void sort_by_band(const std::vector<std::uint32_t>& owner) {
    std::vector<std::uint32_t> next(out_.bands.size() + 1, 0);
    for (std::uint32_t e = 0; e < owner.size(); ++e)
      if (out_.edges[e].points > 0) ++next[owner[e] + 1];
    for (std::size_t b = 0; b < out_.bands.size(); ++b) {
      out_.bands[b].edges = next[b + 1];
      next[b + 1] += next[b];
      out_.bands[b].first_edge = next[b];
    }
    out_.edge_order.resize(next.back());
    for (std::uint32_t e = 0; e < owner.size(); ++e)
      if (out_.edges[e].points > 0) out_.edge_order[next[owner[e]]++] = e;
  }

  GraphLayout& out_;
  Nesting nesting_;
  Lanes lanes_;
  std::vector<std::uint32_t> out_degree_, in_degree_;  // edges by box
  Line line_;                                          // the last candidate
  std::uint32_t slot_ = 0;                             // routes into the current box so far
  std::uint32_t band_ = 0;  // the innermost that holds both ends of the current edge
};

}  // namespace

bool find_routes(GraphLayout& out, Stopper& stop) {
  if (!Router(out).run(stop)) return false;
  for (const Point p : out.points) {
    out.bounds = {std::min(out.bounds.left, p.x), std::min(out.bounds.top, p.y),
                  std::max(out.bounds.right, p.x), std::max(out.bounds.bottom, p.y)};
  }
  if (!out.bands.empty()) out.bands[0].bounds = out.bounds;
  return true;
}

}  // namespace recut::gui::layout

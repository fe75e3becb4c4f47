// Layout of joint forward and backward graphs, for the canvas and for pictures.
//
//   graph, roles ── scene_of ──▶ Scene ──┐
//   Expansion (which groups are open) ───┼── lay_out ──▶ GraphLayout ── look ──▶ shapes to draw
//   LayoutCache, former layout, anchor ──┘                            ── hit_* ─▶ item at a point
//
// The picture. Forward runs down a column on the left, backward runs up a column on the right;
// between them is a channel, x = 0 in its middle. A backward node stands in the row of its forward
// partner, or right above or below where several have the same one, so that a saved value is a
// short rung across the channel. Parameters are on a *shelf* above, in a group of their own. A
// *group* is one call of a module. Open, it is a band of rows with two frames, one on each side, of
// the same height; closed, it is one box on each side. Parallel branches stand side by side; the
// longest path of a group is its *spine*, straight and next to the channel, side branches stand
// outwards.
//
// Units are pixels at zoom 1, whole numbers, y downwards. Boxes have one size for all names: the
// canvas shortens names. No two boxes overlap, every box is inside the frames of its groups, frames
// are nested, and no route crosses a box.
//
// Edges between the same two boxes are one edge. Short edges between boxes with at most ten edges
// out or in are *routes*, polylines of horizontal and vertical pieces; others are *stubs*: marks at
// both ends, one a box, direction and kind, that list their edges, to be labelled ("→ relu_12", "48
// parameters") and to jump along. So the work grows with nodes and edges, never with the rows that
// an edge spans.
//
// Algorithm, after Sugiyama, Tagawa and Toda ("Methods for Visual Understanding of Hierarchical
// System Structures", IEEE Trans. SMC 11(2), 1981), group by group from the innermost out:
//   rows      longest paths, forward and backward together with partners as one vertex; side
//             branches are pulled to their users
//   columns   paths of nodes take whole columns (as in the "railroad" of iongraph, B. Visness,
//             "Who needs Graphviz when you can build it yourself?", spidermonkey.dev, 2025, which
//             keeps program order and looks for no least crossings, for predictability);
//             three barycentre sweeps move paths to free columns near their neighbours
//   routes    by trial: a few candidate polylines against a grid of boxes, else a stub
// No dummy vertices: on joint graphs they make layered layout slow, since saved values span all
// rows. All steps are linear or n log n.
//
// A group's inner layout depends on its content and on the open groups in it, and is cached by a
// hash of both: 48 equal layers are laid out once, and opening one group redoes that group and the
// groups around it. Program order decides every tie, so that a pass that changes one module leaves
// the others as they were; with `former` given, columns are kept as well.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "gui/layout/geometry.h"
#include "gui/layout/grid.h"
#include "gui/layout/scene.h"

namespace recut::gui::layout {

using BoxId = Id<struct LayoutBoxTag>;

// The set of open groups, by Group::key; the root always is open.
struct Expansion {
  std::unordered_set<std::uint64_t> open;  // asked only, never walked
  bool all = false;

  bool is_open(const Group& group) const {
    return all || !group.parent.valid() || open.count(group.key) != 0;
  }
  void set(const Group& group, bool opened) {
    if (opened)
      open.insert(group.key);
    else
      open.erase(group.key);
  }
};

// Opens, while at most `boxes` boxes show: levels of groups of groups from the outside in; of a
// level that doesn't fit, the first group of each kind (equal content); then small groups of nodes
// likewise.
Expansion default_expansion(const Scene& scene, std::size_t boxes = 150);

// Opens all groups around a node, so that its own box shows.
void reveal(const Scene& scene, NodeId node, Expansion& expansion);

struct Box {
  Rect rect;
  NodeId node;    // invalid: the box of a closed group
  GroupId group;  // the closed group, or the group that holds the node directly
  Side side = Side::forward;
  Role role = Role::none;       // of a closed group: none
  std::uint8_t importance = 1;  // 3 groups, saved values; then SceneNode::weight: leave out the
                                // names (then the boxes) of the less important first
  BoxId partner;                // on the other side, in the same row; invalid where there is none
  std::uint32_t column = 0;     // 0: the spine, counted outwards
  std::uint32_t nodes = 1;
  std::int64_t bytes = 0;  // of a node: of its value; of a closed group: saved in it
};

// An open group, in order of nesting (parents first). bands[0] is the root.
struct Band {
  GroupId group;
  Rect bounds;             // of everything in it: both frames, and the channel between
  Rect forward, backward;  // frames; empty where that side has nothing, and of the root
  std::uint32_t forward_column = 0, backward_column = 0;  // in the group around it
  std::uint32_t depth = 0;
  std::uint32_t end = 0;                    // bands [this + 1, end) are inside this one
  std::uint32_t first_box = 0, boxes = 0;   // directly inside
  std::uint32_t first_edge = 0, edges = 0;  // in edge_order: routes within it, but in no band of it
};

enum class EdgeKind : std::uint8_t {
  flow,      // forward to forward
  gradient,  // backward to backward
  saved,     // forward to backward: a rung
  parameter  // from the shelf: never a route
};

struct Edge {
  BoxId from, to;
  EdgeKind kind = EdgeKind::flow;
  std::uint8_t width_class = 0;  // 0 below 1 KiB, then one more for each factor of 16, to 7
  std::uint32_t values = 1;      // distinct values that go along it
  std::int64_t bytes = 0;        // of those values together
  std::uint32_t first_point = 0, points = 0;  // in GraphLayout::points; 0 points: stubs
};

// A mark at a box for edges without a route.
struct Stub {
  BoxId box;
  bool incoming = false;
  EdgeKind kind = EdgeKind::flow;
  Point at;         // on the border of the box; it points outwards, along `direction`
  Point direction;  // (0, -1), (0, 1), (-1, 0) or (1, 0)
  std::uint32_t first_edge = 0, edges = 0;  // in stub_edges
};

struct GraphLayout {
  Rect bounds;
  std::vector<Box> boxes;
  std::vector<Band> bands;
  std::vector<Edge> edges;
  std::vector<Point> points;
  std::vector<std::uint32_t> edge_order;  // edges with routes, by band
  std::vector<Stub> stubs;                // by box
  std::vector<std::uint32_t> first_stub;  // by box, boxes.size() + 1 entries
  std::vector<std::uint32_t> stub_edges;
  std::vector<BoxId> box_of;  // by position in the scene: the box that shows the node

  // To add to every coordinate of this layout, so that the anchor stands where it stood in the
  // former layout: subtract it from the camera, or animate along it. (0, 0) without an anchor.
  Point anchor_shift;

  Grid grid;  // of boxes

  std::span<const Point> route(const Edge& edge) const {
    return std::span(points).subspan(edge.first_point, edge.points);
  }
  std::span<const Stub> stubs_of(BoxId box) const {
    return std::span(stubs).subspan(first_stub[box.index],
                                    first_stub[box.index + 1] - first_stub[box.index]);
  }
  // The box that shows a node; invalid where the scene hasn't got the node.
  BoxId find(const Scene& scene, NodeId node) const {
    const std::uint32_t position = scene.find(node);
    return position == Scene::kNone ? BoxId() : box_of[position];
  }
};

// Inner layouts of groups, from call to call. A layout that the last 16 calls didn't use is
// dropped.
class LayoutCache {
 public:
  LayoutCache();
  ~LayoutCache();
  LayoutCache(LayoutCache&&) noexcept;
  LayoutCache& operator=(LayoutCache&&) noexcept;

  struct Store;
  Store& store() { return *store_; }
  std::size_t size() const;  // layouts of groups in it

 private:
  std::unique_ptr<Store> store_;
};

// The layout before a pass, a click on a group, a change of radius.
struct Former {
  const Scene* scene = nullptr;
  const GraphLayout* layout = nullptr;
  // The former node of a node of the new scene, invalid if it is new. An empty function: the ids
  // are the same, as after interning.
  std::function<NodeId(NodeId)> node_of;
};

struct LayoutOptions {
  Former former;
  NodeId anchor;               // of the new scene: stays in its place (anchor_shift). Invalid: none
  std::function<bool()> stop;  // asked every few thousand steps; true: give up
};

// Finds the shapes to draw of a rectangle at a zoom. Bands that are lower than `block` pixels
// become blocks and nothing in them is named, so that the amount is bounded by the screen and not
// by the graph.
struct Visible {
  std::vector<std::uint32_t> bands;   // frames to draw, outer ones first
  std::vector<std::uint32_t> blocks;  // bands to fill as one bar a side
  std::vector<std::uint32_t> boxes;
  std::vector<std::uint32_t> edges;  // with routes
  bool labels = false;               // whether boxes are large enough for names
  bool stubs = false;                // whether stubs are worth drawing
};
void look(const GraphLayout& layout, const Rect& rect, float zoom, Visible& out, float block = 14);

// The object at a point: the box; the innermost open group by its frame; the nearest route within
// `reach`. Invalid, or kNone, if there is none.
BoxId hit_box(const GraphLayout& layout, Point at);
GroupId hit_group(const GraphLayout& layout, Point at);
std::uint32_t hit_edge(const GraphLayout& layout, Point at, float reach);

}  // namespace recut::gui::layout

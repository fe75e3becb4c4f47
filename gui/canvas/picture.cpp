// Makes the picture of a canvas in a job: scene, layout, and indices over them. Each part is reused
// from the former picture if it is still valid: scene and readers while the pass stays, inner
// layouts by content (PictureCache). The former layout and an anchor keep nodes in their places
// across passes. `crossings` lists forward values that backward reads, edge by edge, and `incident`
// the edges of each box; both are arrays with offsets, as graphs have a million edges.
#include "gui/canvas/picture.h"

#include <algorithm>

#include "engine/ir/printer.h"
#include "gui/layout/lay_out.h"
#include "gui/layout/scene_of.h"

namespace recut::gui {
namespace {

using layout::BoxId;
using layout::Edge;
using layout::GraphLayout;
using layout::Scene;

std::vector<Crossing> crossings_of(const Scene& scene, const GraphLayout& layout) {
  // Edges are sorted by the box that they lead to.
  std::vector<std::uint32_t> first(layout.boxes.size() + 1, 0);
  for (const Edge& edge : layout.edges) ++first[edge.to.index + 1];
  for (std::size_t b = 1; b < first.size(); ++b) first[b] += first[b - 1];
  std::vector<Crossing> crossings;
  for (std::uint32_t p = 0; p < scene.nodes.size(); ++p) {
    if (scene.nodes[p].side != layout::Side::backward || !layout.box_of[p].valid()) continue;
    const std::uint32_t to = layout.box_of[p].index;
    for (const std::uint32_t value : scene.operands_of(p)) {
      if (scene.nodes[value].side != layout::Side::forward) continue;
      for (std::uint32_t e = first[to]; e < first[to + 1]; ++e)
        if (layout.edges[e].from == layout.box_of[value]) crossings.push_back({e, value});
    }
  }
  std::sort(crossings.begin(), crossings.end());
  crossings.erase(std::unique(crossings.begin(), crossings.end()), crossings.end());
  return crossings;
}

void gather_incident(Picture& picture) {
  const GraphLayout& layout = picture.layout;
  picture.first_incident.assign(layout.boxes.size() + 1, 0);
  for (const Edge& edge : layout.edges)
    for (const BoxId box : {edge.from, edge.to}) ++picture.first_incident[box.index + 1];
  for (std::size_t b = 1; b < picture.first_incident.size(); ++b)
    picture.first_incident[b] += picture.first_incident[b - 1];
  std::vector<std::uint32_t> next = picture.first_incident;
  picture.incident.resize(2 * layout.edges.size());
  for (std::uint32_t e = 0; e < layout.edges.size(); ++e)
    for (const BoxId box : {layout.edges[e].from, layout.edges[e].to})
      picture.incident[next[box.index]++] = e;
}

std::vector<NodeId> readers_of(const Graph& graph, const Scene& scene) {
  std::vector<NodeId> readers(scene.nodes.size());
  for (std::uint32_t p = 0; p < scene.nodes.size(); ++p) {
    if (graph.origin(scene.nodes[p].node).module.empty()) continue;
    for (const std::uint32_t value : scene.operands_of(p))
      if (scene.nodes[value].input && !readers[value].valid()) readers[value] = scene.nodes[p].node;
  }
  return readers;
}

// The same node, or the node of its name in another pass's graph.
NodeId counterpart(const Graph& from, const Graph& to, NodeId node) {
  if (to.contains(node)) return node;
  return from.contains(node) ? to.find(from.node_name(node)) : NodeId();
}

// A node whose operand was rewritten is another node with the same line: that is no change.
bool is_new(const Graph& now, const Graph& before, NodeId node) {
  if (before.contains(node)) return false;
  const NodeId then = before.find(now.node_name(node));
  return !then.valid() || print_node(before, then) != print_node(now, node);
}

// Nodes that the pass shown before hasn't got; while the pass stays, so do the marks.
void mark_changed(const PictureRequest& request, Picture& picture) {
  const SharedPicture& former = request.former;
  if (former == nullptr || former->document != request.document) return;
  const bool same_pass = former->pass == request.pass;
  if (same_pass && former->changed.empty()) return;
  const Graph& before = former->graph();
  picture.changed.assign(picture.scene->nodes.size(), false);
  for (std::size_t p = 0; p < picture.changed.size(); ++p) {
    const NodeId node = picture.scene->nodes[p].node;
    if (!same_pass) {
      picture.changed[p] = is_new(picture.graph(), before, node);
    } else if (const std::uint32_t q = former->scene->find(node); q != Scene::kNone) {
      picture.changed[p] = former->changed[q];
    }
  }
}

layout::LayoutOptions options_of(const PictureRequest& request, const Picture& picture,
                                 const std::function<bool()>& stop) {
  layout::LayoutOptions options;
  options.stop = stop;
  if (request.former == nullptr || request.former->document != request.document) return options;
  options.former.scene = request.former->scene.get();
  options.former.layout = &request.former->layout;
  const Graph &now = picture.graph(), &before = request.former->graph();
  if (request.former->pass != request.pass)
    options.former.node_of = [&now, &before](NodeId node) {
      return counterpart(now, before, node);
    };
  for (const NodeId candidate : request.anchors) {
    // Anchors are nodes of this graph or of the former one.
    const NodeId anchor = candidate.valid() ? counterpart(before, now, candidate) : NodeId();
    if (!anchor.valid() || picture.scene->find(anchor) == Scene::kNone) continue;
    const NodeId then = counterpart(now, before, anchor);
    if (!then.valid() || !request.former->box(then).valid()) continue;
    options.anchor = anchor;
    break;
  }
  return options;
}

}  // namespace

const Graph& graph_at(const Document& document, std::size_t pass) {
  const auto& passes = document.passes.passes;
  if (pass == 0 || passes.empty()) return document.passes.input;
  return passes[std::min(pass, passes.size()) - 1].graph;
}

const Graph& Picture::graph() const { return graph_at(*document, pass); }

std::string_view Picture::reading_module(NodeId input) const {
  const std::uint32_t position = whole->find(input);
  if (readers == nullptr || position == Scene::kNone) return {};
  const NodeId reader = (*readers)[position];
  return reader.valid() ? std::string_view(graph().origin(reader).module) : std::string_view();
}

layout::BoxId Picture::own_box(NodeId node) const {
  const layout::BoxId id = node.valid() ? box(node) : layout::BoxId();
  return id.valid() && layout.boxes[id.index].node == node ? id : layout::BoxId();
}

SharedPicture make_picture(const PictureRequest& request, PictureCache& cache,
                           const std::function<bool()>& stop) {
  auto picture = std::make_shared<Picture>();
  picture->document = request.document;
  picture->pass = request.pass;
  const SharedPicture& former = request.former;
  const bool same_graph =
      former && former->document == request.document && former->pass == request.pass;
  picture->whole = same_graph ? former->whole
                              : std::make_shared<const Scene>(layout::scene_of(picture->graph()));
  picture->scene = picture->whole;
  picture->readers = same_graph ? former->readers
                                : std::make_shared<const std::vector<NodeId>>(
                                      readers_of(picture->graph(), *picture->whole));
  picture->expansion =
      request.expansion ? *request.expansion : layout::default_expansion(*picture->whole);
  if (stop()) return nullptr;
  if (request.focus.node.valid() && picture->whole->find(request.focus.node) != Scene::kNone) {
    picture->focus = request.focus;
    picture->scene = std::make_shared<const Scene>(
        layout::neighbourhood(*picture->whole, request.focus.node, request.focus.radius));
    picture->expansion.all = true;  // all of them belong to the request
  }
  const layout::LayoutOptions options = options_of(request, *picture, stop);
  {
    const std::lock_guard lock(cache.mutex);
    auto made = layout::lay_out(*picture->scene, picture->expansion, cache.layouts, options);
    if (!made) return nullptr;
    picture->layout = std::move(*made);
  }
  picture->crossings = crossings_of(*picture->scene, picture->layout);
  gather_incident(*picture);
  mark_changed(request, *picture);
  return picture;
}

}  // namespace recut::gui

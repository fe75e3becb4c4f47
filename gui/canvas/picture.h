// The canvas's picture: a graph laid out, with all facts that every frame asks for. Made by a job,
// never changed.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/workspace/document.h"
#include "gui/layout/graph_layout.h"

namespace recut::gui {

// The neighbourhood that is shown; of no node: the whole graph.
struct Focus {
  NodeId node;
  std::uint32_t radius = 2;
  bool operator==(const Focus& o) const { return node == o.node && radius == o.radius; }
};

// A value that goes along an edge from forward to backward.
struct Crossing {
  std::uint32_t edge = 0, value = 0;  // position in the scene
  bool operator<(const Crossing& o) const {
    return std::pair(edge, value) < std::pair(o.edge, o.value);
  }
  bool operator==(const Crossing& o) const { return edge == o.edge && value == o.value; }
};

struct Picture {
  std::shared_ptr<const Document> document;
  std::size_t pass = 0;
  Focus focus;
  layout::Expansion expansion;

  std::shared_ptr<const layout::Scene> whole;  // of the graph
  std::shared_ptr<const layout::Scene> scene;  // the shown scene: the same, or a neighbourhood
  layout::GraphLayout layout;

  std::vector<Crossing> crossings;  // sorted
  // Edges by box, both ways: incident[first_incident[b] … first_incident[b + 1]).
  std::vector<std::uint32_t> first_incident, incident;
  // By position in `whole`, of inputs: their first reader that stands in a module. Of one graph
  // one.
  std::shared_ptr<const std::vector<NodeId>> readers;
  // By position in the scene: the pass that was shown before hasn't got the node. Empty: no other
  // pass was.
  std::vector<bool> changed;

  const Graph& graph() const;
  // The module that reads an input first; "" where none does.
  std::string_view reading_module(NodeId input) const;
  layout::BoxId box(NodeId node) const { return layout.find(*scene, node); }
  // The box of the node itself, not of a group around it.
  layout::BoxId own_box(NodeId node) const;
  const layout::Group& group(const layout::Box& box) const {
    return scene->groups[box.group.index];
  }
  std::span<const std::uint32_t> edges_of(layout::BoxId box) const {
    return std::span(incident).subspan(first_incident[box.index],
                                       first_incident[box.index + 1] - first_incident[box.index]);
  }
};
using SharedPicture = std::shared_ptr<const Picture>;

struct PictureRequest {
  std::shared_ptr<const Document> document;
  std::size_t pass = 0;
  Focus focus;
  std::optional<layout::Expansion> expansion;  // none: one that suits the graph
  SharedPicture former;                        // may be null
  std::vector<NodeId> anchors;                 // the first that there is stays in its place
};

// The cache of a document's layouts, which use it one after another.
struct PictureCache {
  std::mutex mutex;
  layout::LayoutCache layouts;
};

const Graph& graph_at(const Document& document, std::size_t pass);

// Makes the picture; null if `stop` returned true.
SharedPicture make_picture(const PictureRequest& request, PictureCache& cache,
                           const std::function<bool()>& stop);

}  // namespace recut::gui

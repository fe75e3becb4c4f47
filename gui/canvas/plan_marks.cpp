#include "gui/canvas/plan_marks.h"

#include <algorithm>
#include <set>
#include <utility>

namespace recut::gui {
namespace {

// The plan's node of each node, by position in the scene; empty without a plan.
std::vector<NodeId> planned_nodes(const Picture& picture, const PlanView* plan) {
  std::vector<NodeId> nodes;
  if (plan == nullptr) return nodes;
  const Graph& graph = picture.graph();
  nodes.reserve(picture.scene->nodes.size());
  for (const layout::SceneNode& node : picture.scene->nodes)
    nodes.push_back(planned_node(graph, *plan, node.node));
  return nodes;
}

class Marker {
 public:
  Marker(const Picture& picture, const PlanView* plan)
      : picture_(picture), plan_(plan), planned_(planned_nodes(picture, plan)) {}

  bool knows(std::size_t position) const { return plan_ != nullptr && planned_[position].valid(); }
  Role role(std::size_t position) const { return plan_->role(planned_[position]); }
  NodeId planned(std::size_t position) const { return planned_[position]; }
  void count(std::size_t position, BoxMarks& marks) const;
  std::vector<BoxMarks> bands() const;

 private:
  const Picture& picture_;
  const PlanView* plan_;
  const std::vector<NodeId> planned_;
};

void Marker::count(std::size_t position, BoxMarks& marks) const {
  if (!knows(position)) return;
  const SavedStorages kept = plan_->kept_of(planned(position));
  marks.saved += static_cast<std::uint32_t>(kept.storages);
  marks.bytes += kept.bytes;
  if (kept.storages > 0 || picture_.scene->nodes[position].weight == 0) return;
  ++(role(position) == Role::recomputed ? marks.again : marks.others);
}

// The marks of open groups: nodes count for every open group around them.
std::vector<BoxMarks> Marker::bands() const {
  const layout::Scene& scene = *picture_.scene;
  std::vector<BoxMarks> groups(scene.groups.size());
  for (std::size_t p = 0; p < scene.nodes.size(); ++p) count(p, groups[scene.nodes[p].group.index]);
  for (std::size_t g = groups.size(); g-- > 1;) {  // parents stand before their children
    const layout::GroupId parent = scene.groups[g].parent;
    if (!parent.valid()) continue;
    BoxMarks& sum = groups[parent.index];
    sum.saved += groups[g].saved;
    sum.again += groups[g].again;
    sum.others += groups[g].others;
    sum.bytes += groups[g].bytes;
  }
  std::vector<BoxMarks> bands;
  for (const layout::Band& band : picture_.layout.bands) bands.push_back(groups[band.group.index]);
  return bands;
}

}  // namespace

PlanMarks marks_of(const Picture& picture, const PlanView* plan, const RunReport* run) {
  PlanMarks marks;
  if (run != nullptr) marks.most_ms = run->most_ms;
  const Marker marker(picture, plan);
  const layout::GraphLayout& layout = picture.layout;
  marks.boxes.resize(layout.boxes.size());
  marks.rungs.resize(layout.edges.size());
  for (std::size_t p = 0; p < layout.box_of.size(); ++p) {
    if (!layout.box_of[p].valid()) continue;
    BoxMarks& box = marks.boxes[layout.box_of[p].index];
    if (!picture.changed.empty() && picture.changed[p]) ++box.changed;
    if (run != nullptr && marker.knows(p))
      box.ms = std::max(box.ms, run->node_ms[plan->graph().position(marker.planned(p))]);
    if (!layout.boxes[layout.box_of[p].index].node.valid()) {
      marker.count(p, box);
      continue;
    }
    box.known = marker.knows(p);
    if (box.known) box.role = marker.role(p);
  }
  marks.bands = marker.bands();
  const Graph& graph = picture.graph();
  for (const auto* outputs : {&graph.results, &graph.gradients})
    for (const NodeId node : *outputs)
      if (const layout::BoxId box = picture.own_box(node); box.valid())
        marks.boxes[box.index].result = true;
  std::set<std::pair<std::uint32_t, std::uint32_t>> counted;  // rungs and storages on them
  for (const Crossing& crossing : picture.crossings) {
    if (!marker.knows(crossing.value)) continue;
    RungMarks& rung = marks.rungs[crossing.edge];
    for (const StorageId storage : plan->storages->storages_of(marker.planned(crossing.value))) {
      if (!counted.insert({crossing.edge, storage.index}).second) continue;
      if (plan->kept[storage.index]) {
        ++rung.saved;
        rung.bytes += (*plan->storages)[storage].bytes;
      } else if (marker.role(crossing.value) == Role::recomputed) {
        ++rung.again;
      }
    }
  }
  return marks;
}

}  // namespace recut::gui

#include "gui/canvas/plan_marks.h"

namespace recut::gui {
namespace {

bool plan_has(const PlanView* plan, NodeId node) {
  return plan != nullptr && plan->graph().contains(node);
}

void count(const layout::SceneNode& node, const PlanView* plan, BoxMarks& marks) {
  if (node.weight == 0 || !plan_has(plan, node.node)) return;
  const Role role = plan->role(node.node);
  if (role == Role::saved) {
    ++marks.saved;
    marks.bytes += node.bytes;
  } else if (role == Role::recomputed) {
    ++marks.again;
  } else {
    ++marks.others;
  }
}

// Nodes count for every open group around them.
std::vector<BoxMarks> marks_of_bands(const Picture& picture, const PlanView* plan) {
  std::vector<BoxMarks> groups(picture.scene->groups.size());
  for (const layout::SceneNode& node : picture.scene->nodes)
    count(node, plan, groups[node.group.index]);
  for (std::size_t g = groups.size(); g-- > 1;) {  // parents stand before their children
    const layout::GroupId parent = picture.scene->groups[g].parent;
    if (!parent.valid()) continue;
    BoxMarks& sum = groups[parent.index];
    sum.saved += groups[g].saved;
    sum.again += groups[g].again;
    sum.others += groups[g].others;
    sum.bytes += groups[g].bytes;
  }
  std::vector<BoxMarks> bands;
  for (const layout::Band& band : picture.layout.bands) bands.push_back(groups[band.group.index]);
  return bands;
}

}  // namespace

PlanMarks marks_of(const Picture& picture, const PlanView* plan) {
  PlanMarks marks;
  const layout::GraphLayout& layout = picture.layout;
  marks.boxes.resize(layout.boxes.size());
  marks.rungs.resize(layout.edges.size());
  for (std::size_t p = 0; p < layout.box_of.size(); ++p) {
    if (!layout.box_of[p].valid()) continue;
    const layout::SceneNode& node = picture.scene->nodes[p];
    BoxMarks& box = marks.boxes[layout.box_of[p].index];
    if (!picture.changed.empty() && picture.changed[p]) ++box.changed;
    if (!layout.boxes[layout.box_of[p].index].node.valid()) {
      count(node, plan, box);
      continue;
    }
    box.known = plan_has(plan, node.node);
    if (box.known) box.role = plan->role(node.node);
  }
  marks.bands = marks_of_bands(picture, plan);
  const Graph& graph = picture.graph();
  for (const auto* outputs : {&graph.results, &graph.gradients})
    for (const NodeId node : *outputs)
      if (const layout::BoxId box = picture.own_box(node); box.valid())
        marks.boxes[box.index].result = true;
  for (const Crossing& crossing : picture.crossings) {
    const layout::SceneNode& value = picture.scene->nodes[crossing.value];
    if (!plan_has(plan, value.node)) continue;
    RungMarks& rung = marks.rungs[crossing.edge];
    const Role role = plan->role(value.node);
    if (role == Role::saved) {
      ++rung.saved;
      rung.bytes += value.bytes;
    } else if (role == Role::recomputed) {
      ++rung.again;
    }
  }
  return marks;
}

}  // namespace recut::gui

#include "gui/canvas/difference_marks.h"

namespace recut::gui {
namespace {

void count(Difference difference, BoxDifferences& sum) {
  if (difference == Difference::only) ++sum.only;
  if (difference == Difference::rewritten) ++sum.rewritten;
  if (difference == Difference::fate) ++sum.fate;
}

}  // namespace

DifferenceMarks differences_of(const Picture& picture, const ComparedSide& side) {
  const layout::Scene& scene = *picture.scene;
  const Graph& graph = picture.graph();
  DifferenceMarks marks;
  marks.boxes.resize(picture.layout.boxes.size());
  std::vector<BoxDifferences> groups(scene.groups.size());
  for (std::size_t p = 0; p < scene.nodes.size(); ++p) {
    const std::size_t at = graph.position(scene.nodes[p].node);
    const Difference difference = side.difference[at];
    if (difference == Difference::none) continue;
    count(difference, groups[scene.nodes[p].group.index]);
    const layout::BoxId box = picture.layout.box_of[p];
    if (!box.valid()) continue;
    count(difference, marks.boxes[box.index]);
    marks.boxes[box.index].other_role = side.other_role[at];
  }
  for (std::size_t g = groups.size(); g-- > 1;) {  // parents stand before their children
    if (!scene.groups[g].parent.valid()) continue;
    BoxDifferences& sum = groups[scene.groups[g].parent.index];
    sum.only += groups[g].only;
    sum.rewritten += groups[g].rewritten;
    sum.fate += groups[g].fate;
  }
  for (const layout::Band& band : picture.layout.bands)
    marks.bands.push_back(groups[band.group.index]);
  return marks;
}

}  // namespace recut::gui

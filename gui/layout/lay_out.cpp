#include "gui/layout/lay_out.h"

#include "gui/layout/boxes.h"
#include "gui/layout/edges.h"
#include "gui/layout/former_columns.h"
#include "gui/layout/inner_layouts.h"
#include "gui/layout/routes.h"

namespace recut::gui::layout {
namespace {

Point anchor_shift(const Scene& scene, const LayoutOptions& options, const GraphLayout& layout) {
  const BoxId before = former_box(options.former, options.anchor);
  const BoxId now = options.anchor.valid() ? layout.find(scene, options.anchor) : BoxId();
  if (!before.valid() || !now.valid()) return {};
  const Rect& from = layout.boxes[now.index].rect;
  const Rect& to = options.former.layout->boxes[before.index].rect;
  return {to.left - from.left, to.top - from.top};
}

}  // namespace

std::optional<GraphLayout> lay_out(const Scene& scene, const Expansion& expansion,
                                   LayoutCache& cache, const LayoutOptions& options) {
  Stopper stop(options.stop);
  cache.store().begin_call();
  const auto inner = inner_layouts(scene, expansion, options, cache.store(), stop);
  if (!inner) return std::nullopt;
  GraphLayout layout;
  place_boxes(scene, *inner, layout);
  std::vector<Rect> rects;
  rects.reserve(layout.boxes.size());
  for (const Box& box : layout.boxes) rects.push_back(box.rect);
  layout.grid = Grid(rects, layout.bounds);
  gather_edges(scene, layout);
  if (stop(layout.edges.size()) || !find_routes(layout, stop)) return std::nullopt;
  make_stubs(layout);
  layout.anchor_shift = anchor_shift(scene, options, layout);
  return layout;
}

}  // namespace recut::gui::layout

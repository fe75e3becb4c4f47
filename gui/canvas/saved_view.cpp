#include "gui/canvas/saved_view.h"

namespace recut::gui {
namespace {

bool same_open(const layout::Scene& scene, const layout::Expansion& a, const layout::Expansion& b) {
  for (const layout::Group& group : scene.groups)
    if (a.is_open(group) != b.is_open(group)) return false;
  return true;
}

}  // namespace

void restore_view(Canvas& canvas, const SavedView& saved) {
  if (saved.open) {
    canvas.expansion = layout::Expansion();
    canvas.expansion->open.insert(saved.open->begin(), saved.open->end());
  }
  if (!saved.camera) return;
  const Camera camera{saved.camera->x, saved.camera->y, saved.camera->zoom};
  if (!(camera.zoom >= kMinZoom && camera.zoom <= kMaxZoom)) return;
  jump(canvas, camera);
  canvas.restored = true;
}

void begin_view(Canvas& canvas) {
  const layout::Rect seen = canvas.view().visible(), bounds = canvas.picture->layout.bounds;
  if (canvas.restored && !seen.overlaps(bounds)) canvas.placed = canvas.restored = false;
  if (!canvas.placed) place_camera(canvas);
}

void remember_view(Canvas& canvas, SavedView& saved) {
  if (canvas.picture == nullptr || canvas.focus.node.valid()) return;
  if (canvas.placed)
    saved.camera = SavedView::Camera{canvas.camera.x, canvas.camera.y, canvas.camera.zoom};
  if (!canvas.expansion || canvas.remembered == canvas.expansion_changes) return;
  canvas.remembered = canvas.expansion_changes;
  const layout::Scene& scene = *canvas.picture->whole;
  saved.open.reset();
  if (same_open(scene, *canvas.expansion, layout::default_expansion(scene))) return;
  saved.open.emplace();
  for (const layout::Group& group : scene.groups)
    if (group.parent.valid() && canvas.expansion->is_open(group)) saved.open->push_back(group.key);
}

}  // namespace recut::gui

// The workspace's memory of a canvas: saving and restoring it.
#pragma once

#include "gui/canvas/canvas.h"
#include "gui/model/saved_document.h"

namespace recut::gui {

// Restores the canvas before its first picture. A camera out of its range is passed over.
void restore_view(Canvas& canvas, const SavedView& saved);
// Call it with the first picture: places the camera if it has no position, or shows nothing of the
// graph.
void begin_view(Canvas& canvas);

// Each frame; cheap where nothing changed. Groups are kept where they aren't open as at first.
void remember_view(Canvas& canvas, SavedView& saved);

}  // namespace recut::gui

// The workspace's memory of a canvas: saving and restoring it.
#pragma once

#include "gui/canvas/canvas.h"
#include "gui/model/saved_document.h"

namespace recut::gui {

// Before the first picture: has the canvas begin as it was left. A camera out of its range is
// passed over.
void restore_view(Canvas& canvas, const SavedView& saved);
// With the first picture: places a camera that was in no place, or sees nothing of the graph.
void begin_view(Canvas& canvas);

// Each frame; cheap where nothing changed. Groups are kept where they aren't open as at first.
void remember_view(Canvas& canvas, SavedView& saved);

}  // namespace recut::gui

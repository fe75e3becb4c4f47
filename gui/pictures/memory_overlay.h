// A measured step over a planned one as a picture: bytes above those before the step, on one axis,
// in the plan's order, with both peaks.
#pragma once

#include <string>

#include "engine/workspace/memory_comparison.h"
#include "gui/pictures/look.h"

namespace recut::gui {

std::string memory_overlay_svg(const MemoryComparison& comparison, const PictureLook& look);

}  // namespace recut::gui

// The memory timeline of a plan as a picture: bytes alive at each step, in program order, forward
// and backward, stacked by why they are alive, with the peak marked.
#pragma once

#include <string>

#include "engine/workspace/plan_report.h"
#include "gui/pictures/look.h"

namespace recut::gui {

std::string memory_timeline_svg(const PlanReport& report, const PictureLook& look);

}  // namespace recut::gui

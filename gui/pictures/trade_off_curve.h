// The trade-off of a graph as a picture: peak against step time, with the area that is proved
// impossible shaded, the ends labelled, and PyTorch's own points joined in the order of their
// budgets.
#pragma once

#include <string>

#include "engine/workspace/curve.h"
#include "gui/pictures/look.h"

namespace recut::gui {

std::string trade_off_svg(const CurveReport& report, const PictureLook& look);

}  // namespace recut::gui

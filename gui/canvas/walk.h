// Steps from node to node along edges, by direction on the screen.
#pragma once

#include "gui/canvas/picture.h"

namespace recut::gui {

enum class WalkDirection : unsigned char { up, down, left, right };

// The box that an edge leads to in that direction, the nearest; of several, the one most straight
// ahead. Invalid where there is none.
layout::BoxId step(const Picture& picture, layout::BoxId from, WalkDirection direction);

// Any node that a box shows: the box's own, or the first of its group on the box's side.
NodeId node_of(const Picture& picture, const layout::Box& box);

}  // namespace recut::gui

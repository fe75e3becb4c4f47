// The camera's first view, and its framing of columns and of a neighbourhood: names can be read,
// and the subject is visible.
#pragma once

#include "gui/canvas/camera.h"
#include "gui/canvas/picture.h"

namespace recut::gui {

// The part of the graph with most of its work: groups beside each other that are alike, such as a
// transformer's blocks, if they are at least a third of the graph; else all of it.
layout::Rect main_body(const Picture& picture);

// The distance from the channel's middle to the far edge of a box beside it: more if frames are
// around it.
double reach_of_columns(const Picture& picture);

// A camera at the top of the graph, or of its main body if that is more than half a screen further
// down.
Camera first_camera(const Picture& picture, const Rect& area, float scale);

// Both columns next to the channel; where they would be too small to be read, forward's and the
// channel. y is 0. `reach`: of a column; `spare`: units of length at the right that something else
// takes.
Camera columns_camera(const Rect& area, float scale, double reach, float spare, double least,
                      double most);

// A neighbourhood: all of it; where that is too large to be read, the node that it is about.
Camera focus_camera(const Picture& picture, const Rect& area, float scale);

}  // namespace recut::gui

// What must hold of every layout.
#pragma once

#include <string>

#include "gui/layout/graph_layout.h"

namespace recut::test {

// "" where all of it holds: boxes don't overlap, stand inside the frames around them and inside the
// bounds; frames are nested; partners share their row; routes are made of level and upright pieces,
// cross no box, and start and end on the boxes of their edges; every edge has a route or stands at
// a stub on both its ends; every node has a box.
std::string layout_fault(const gui::layout::Scene& scene, const gui::layout::GraphLayout& layout);

bool same_layout(const gui::layout::GraphLayout& a, const gui::layout::GraphLayout& b);

// All groups open.
inline gui::layout::Expansion everything() {
  gui::layout::Expansion expansion;
  expansion.all = true;
  return expansion;
}

}  // namespace recut::test

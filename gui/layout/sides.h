// Forward, backward or aside: by data flow.
#pragma once

#include <vector>

#include "engine/ir/graph.h"
#include "gui/layout/scene.h"

namespace recut::gui::layout {

struct Sides {
  std::vector<Side> side;      // by position
  std::vector<bool> floating;  // backward without needing a tangent
};
Sides sides_of(const Graph& graph);

}  // namespace recut::gui::layout

// Facts about a scene's groups beyond the tree: counts, wires, content.
#pragma once

#include "gui/layout/scene.h"

namespace recut::gui::layout {

// Computes the derived fields from nodes, operands and items: places, depths, by_group, wires,
// counts and content hashes.
void index_groups(Scene& scene);

}  // namespace recut::gui::layout

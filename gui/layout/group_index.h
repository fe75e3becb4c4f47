// What a scene knows of its groups beyond the tree: counts, wires, content.
#pragma once

#include "gui/layout/scene.h"

namespace recut::gui::layout {

// Fills in what follows from nodes, operands and items: places, depths, by_group, wires, counts,
// bytes and content hashes. `has_roles`: whether saved bytes are those of saved values.
void index_groups(Scene& scene, bool has_roles);

}  // namespace recut::gui::layout

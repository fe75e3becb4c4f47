// From a graph to its scene: sides and positions of the nodes, the tree of groups, and their
// attributes.
#pragma once

#include <span>

#include "engine/ir/graph.h"
#include "gui/layout/scene.h"

namespace recut::gui::layout {

// The scene of a graph. `roles` by position in graph.order(), or empty where there is no plan.
//
// A node is *backward* if it needs a tangent, or if only such nodes use it and it stands behind
// the first of them in the file. Its *forward partner* is the last forward node with its autograd
// sequence number, unless data flow forbids it (a gradient can't be taken before a gradient that it
// reads: gradient accumulation carries the number of the last forward call); else the node whose
// operator's name it carries ("convolution_backward" of "convolution") among its operands' nodes;
// else its last forward operand; else the partner of an operand.
Scene scene_of(const Graph& graph, std::span<const Role> roles = {});

}  // namespace recut::gui::layout

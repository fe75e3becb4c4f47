// From a graph to its scene: sides and places of the nodes, the tree of groups, what is known of
// them.
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
// reads: gradient accumulation carries the number of whatever ran last); else the node whose
// operator's name it carries ("convolution_backward" of "convolution") among those that it reads
// from; else the last forward value that it reads; else the partner of what it reads.
Scene scene_of(const Graph& graph, std::span<const Role> roles = {});

}  // namespace recut::gui::layout

// The tree of groups: the forward nodes of each call of a module.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"
#include "gui/layout/scene.h"

namespace recut::gui::layout {

struct TreeGroup {
  std::uint32_t parent = Scene::kNone;
  std::string label, path;
  std::uint64_t key = 0;
  bool shelf = false;
  std::vector<Item> items;  // forward nodes and groups, in program order
};

// Groups of the forward and shelf nodes, the root first, parents before children.
//
// The nodes are walked in program order with the open modules on a stack, so that a group is a run
// of consecutive nodes. A node without a module belongs to the common prefix of its neighbours'
// modules. A group of a single group is one with it; one of a single node with at most one backward
// node is that node (`partners`: by position, how many backward nodes stand beside a forward one);
// long lists are divided into parts of at most 96 items.
std::vector<TreeGroup> module_tree(const Graph& graph, const std::vector<Side>& sides,
                                   const std::vector<std::uint32_t>& partners);

// The parts of a module path: "L['s'].layer1.0" is "L['s']", "layer1", "0"; at most 24, the last
// of which keeps the rest.
std::vector<std::string_view> split_path(std::string_view path);

}  // namespace recut::gui::layout

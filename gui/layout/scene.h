// The input of the layout: nodes with a side and a position on it, and the tree of groups.
//
// Plain data, complete in itself: a scene refers to no Graph and may be laid out on another thread.
// Build one a graph (scene_of.h), and again only when the graph or its plan changes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/support/ids.h"

namespace recut::gui::layout {

using GroupId = Id<struct LayoutGroupTag>;

enum class Side : std::uint8_t {
  forward,
  backward,  // needs a tangent, or serves only nodes that do
  shelf      // parameters: aside, above the graph; edges from here are always stubs
};

// The plan's treatment of a node's value. Colour and shape of the box; no matter to the layout.
enum class Role : std::uint8_t { none, saved, recomputed, freed, result };

// The facts about a node, by position in the graph's order.
struct SceneNode {
  NodeId node;
  Side side = Side::forward;
  Role role = Role::none;
  // 0 views, getitem, constants; 1 others; 2 products, convolutions, attention, results
  std::uint8_t weight = 1;
  bool input = false;               // placeholder or constant
  std::uint32_t forward_index = 0;  // its place among the forward nodes; of a backward node: its
                                    // forward partner's
  bool mirrors = false;             // of a backward node: it shares its partner's row
  GroupId group;                    // that holds it directly
  std::uint32_t item_index = 0;     // in that group's items
  std::int64_t bytes = 0;           // of the storages behind its value
  std::uint64_t content = 0;        // hash of operator, attributes and types
};

// One entry of a group: a node, or a group.
struct Item {
  std::uint32_t index = 0;  // position in `nodes`, or in `groups`
  bool is_group = false;
};

// A consecutive wire within a group, between two of its items (places in `items`).
struct Wire {
  std::uint32_t from = 0, to = 0;
  bool backward = false;  // runs on the backward side, hence upwards
};

// The nodes of one module's call, consecutive in forward's program order. A module that is called
// again later is another group with the same path: so no cycle of groups can arise.
struct Group {
  GroupId parent;         // invalid: the root
  std::string label;      // the last part of the path: "conv1"; "16 to 31" of a part of a long list
  std::string path;       // of the module, "" for the root
  std::uint64_t key = 0;  // the same from pass to pass: path, and which call of that module
  std::uint64_t content = 0;  // equal for groups of the same operators, types and wiring
  std::uint32_t equals = 1;   // groups with this content in the scene, this one too: "x 24"
  std::uint32_t depth = 0;
  std::uint32_t item_index = 0;  // in its parent's items
  bool shelf = false;
  std::uint32_t forward_nodes = 0, backward_nodes = 0;  // at any depth
  // Places in Scene::items: forward items in program order, then its own backward nodes from the
  // topmost (last to run) to the lowest.
  std::uint32_t first_item = 0, forward_items = 0, backward_items = 0;
  std::uint32_t first_wire = 0, wires = 0;  // in Scene::wires, sorted, each once
  std::uint32_t first_node = 0, nodes = 0;  // in Scene::by_group: all its nodes at any depth

  std::uint32_t items() const { return forward_items + backward_items; }
};

struct Scene {
  std::vector<SceneNode> nodes;              // in program order
  std::vector<std::uint32_t> position_of;    // by NodeId index; kNone where not in the scene
  std::vector<std::uint32_t> first_operand;  // nodes.size() + 1 entries into `operands`
  std::vector<std::uint32_t> operands;       // positions
  std::vector<Group> groups;                 // the root first, parents before children
  std::vector<Item> items;
  std::vector<Wire> wires;
  std::vector<std::uint32_t> by_group;  // positions, so that a group's are consecutive

  static constexpr std::uint32_t kNone = 0xffffffff;

  std::span<const std::uint32_t> operands_of(std::uint32_t position) const {
    return std::span(operands).subspan(first_operand[position],
                                       first_operand[position + 1] - first_operand[position]);
  }
  std::span<const Item> items_of(const Group& group) const {
    return std::span(items).subspan(group.first_item, group.items());
  }
  std::span<const Wire> wires_of(const Group& group) const {
    return std::span(wires).subspan(group.first_wire, group.wires);
  }
  std::span<const std::uint32_t> nodes_of(const Group& group) const {
    return std::span(by_group).subspan(group.first_node, group.nodes);
  }
  std::uint32_t find(NodeId node) const {
    return node.index < position_of.size() ? position_of[node.index] : kNone;
  }
};

// The part of a scene within `radius` steps of a node, along operands and users. Steps don't lead
// on through parameters and through nodes of more than 24 users; a partner comes along with the
// node itself. Groups keep their keys.
Scene neighbourhood(const Scene& scene, NodeId node, std::uint32_t radius);

}  // namespace recut::gui::layout

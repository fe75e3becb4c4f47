#include "gui/layout/scene_of.h"

#include <algorithm>

#include "engine/ir/storage_model.h"
#include "engine/support/hash.h"
#include "gui/layout/group_index.h"
#include "gui/layout/module_tree.h"
#include "gui/layout/partners.h"

namespace recut::gui::layout {
namespace {

std::uint64_t hash_of_node(const Node& node) {
  std::uint64_t h = hash_mix(0, static_cast<std::uint64_t>(node.op));
  for (const Argument& argument : node.arguments) {
    // Wires say which nodes are operands; the hash has their number, and all else.
    bool has_nodes = false;
    for_each_node(argument, [&](NodeId) { has_nodes = true; });
    h = has_nodes ? hash_mix(h, 1) : hash(argument, h);
  }
  for (const TensorType& type : node.outputs) {
    h = hash_mix(h, static_cast<std::uint64_t>(type.dtype));
    for (const std::int64_t d : type.shape) h = hash_mix(h, static_cast<std::uint64_t>(d));
  }
  return h;
}

std::uint8_t weight_of(const Operator& op) {
  if (op.is(kMatrixProduct | kConvolution | kAttention | kRecurrent | kLinearAlgebra)) return 2;
  return op.is(kView | kCreation | kInput) ? 0 : 1;
}

class SceneBuilder {
 public:
  SceneBuilder(const Graph& graph, std::span<const Role> roles)
      : graph_(graph), roles_(roles), placements_(place_nodes(graph)), storages_(graph) {}

  Scene build() && {
    add_nodes();
    add_operands();
    add_groups();
    index_groups(scene_);
    return std::move(scene_);
  }

 private:
  void add_nodes() {
    std::uint32_t largest = 0;
    for (const NodeId id : graph_.order()) largest = std::max(largest, id.index + 1);
    scene_.position_of.assign(largest, Scene::kNone);
    scene_.nodes.reserve(placements_.size());
    for (std::uint32_t p = 0; p < placements_.size(); ++p) {
      const NodeId id = graph_.order()[p];
      const Operator& op = graph_.op(id);
      SceneNode node;
      node.node = id;
      node.side = placements_[p].side;
      node.role = p < roles_.size() ? roles_[p] : Role::none;
      node.weight = weight_of(op);
      node.input = op.is(kInput);
      node.forward_index = placements_[p].forward_index;
      node.mirrors = placements_[p].mirrors;
      node.bytes = node.input ? byte_size(graph_.type(id)) : storage_bytes_of(id);
      node.content = hash_of_node(graph_[id]);
      scene_.position_of[id.index] = p;
      scene_.nodes.push_back(node);
    }
    for (const std::vector<NodeId>* outputs : {&graph_.results, &graph_.gradients})
      for (const NodeId id : *outputs)
        if (id.valid()) scene_.nodes[graph_.position(id)].weight = 2;
  }

  std::int64_t storage_bytes_of(NodeId id) const {
    std::int64_t bytes = 0;
    for (const StorageId storage : storages_.storages_of(id)) bytes += storages_[storage].bytes;
    return bytes;
  }

  void add_operands() {
    scene_.first_operand = {0};
    scene_.first_operand.reserve(placements_.size() + 1);
    for (const NodeId id : graph_.order()) {
      for (const NodeId operand : graph_[id].operands)
        scene_.operands.push_back(static_cast<std::uint32_t>(graph_.position(operand)));
      scene_.first_operand.push_back(static_cast<std::uint32_t>(scene_.operands.size()));
    }
  }

  // The backward nodes of a forward node stand in its group, the last to run on top.
  void add_groups() {
    std::vector<Side> sides(placements_.size());
    std::vector<std::uint32_t> forward;  // positions by forward index
    for (std::uint32_t p = 0; p < placements_.size(); ++p) {
      sides[p] = placements_[p].side;
      if (sides[p] == Side::forward) forward.push_back(p);
    }
    std::vector<std::uint32_t> partners(placements_.size(), 0),
        last(placements_.size(), Scene::kNone);
    std::vector<std::uint32_t> above(placements_.size(), Scene::kNone);  // a list by forward node
    for (std::uint32_t p = 0; p < placements_.size(); ++p) {
      if (sides[p] != Side::backward) continue;
      const std::uint32_t f = forward[placements_[p].forward_index];
      ++partners[f];
      above[p] = last[f];
      last[f] = p;
    }
    for (TreeGroup& from : module_tree(graph_, sides, partners)) {
      Group group;
      group.parent = from.parent == Scene::kNone ? GroupId() : GroupId(from.parent);
      group.label = std::move(from.label);
      group.path = std::move(from.path);
      group.key = from.key;
      group.shelf = from.shelf;
      group.first_item = static_cast<std::uint32_t>(scene_.items.size());
      group.forward_items = static_cast<std::uint32_t>(from.items.size());
      scene_.items.insert(scene_.items.end(), from.items.begin(), from.items.end());
      for (const Item& item : from.items) {
        if (item.is_group) continue;
        for (std::uint32_t p = last[item.index]; p != Scene::kNone; p = above[p])
          scene_.items.push_back({p, false});
      }
      group.backward_items =
          static_cast<std::uint32_t>(scene_.items.size()) - group.first_item - group.forward_items;
      scene_.groups.push_back(std::move(group));
    }
  }

  const Graph& graph_;
  std::span<const Role> roles_;
  std::vector<NodePlacement> placements_;
  StorageModel storages_;
  Scene scene_;
};

}  // namespace

Scene scene_of(const Graph& graph, std::span<const Role> roles) {
  return SceneBuilder(graph, roles).build();
}

}  // namespace recut::gui::layout

#include "gui/layout/group_index.h"

#include <algorithm>
#include <unordered_map>

#include "engine/support/hash.h"

namespace recut::gui::layout {
namespace {

// Derives the facts about groups in one walk each. A wire belongs to the innermost group that holds
// both its ends: they climb the tree until they meet, which costs its depth. Content hashes go from
// the innermost group out and name operands by their position in the group, never by name:
//   layer.0 {mm, add, relu}, layer.1 {mm_1, add_1, relu_1}  ⇒  one hash
// So the inner layout of equal layers is made once, and the canvas can say "1 of 48 alike".
class Indexer {
 public:
  explicit Indexer(Scene& scene) : scene_(scene) {}

  void run() {
    if (scene_.groups.empty()) return;
    item_indices();
    nodes_of_groups();
    find_wires();
    counts();
    for (std::size_t g = scene_.groups.size(); g-- > 0;) hash_group(scene_.groups[g]);
    count_equals();
  }

 private:
  struct Found {
    std::uint32_t group;
    Wire wire;
  };

  void item_indices() {
    for (std::uint32_t g = 0; g < scene_.groups.size(); ++g) {
      const std::span<const Item> items = scene_.items_of(scene_.groups[g]);
      for (std::uint32_t i = 0; i < items.size(); ++i) {
        if (!items[i].is_group) {
          scene_.nodes[items[i].index].group = GroupId(g);
          scene_.nodes[items[i].index].item_index = i;
          continue;
        }
        Group& child = scene_.groups[items[i].index];
        child.parent = GroupId(g);
        child.item_index = i;
        child.depth = scene_.groups[g].depth + 1;
      }
    }
  }

  // Orders nodes: a group's own, then those of its groups, so that every group is consecutive.
  void nodes_of_groups() {
    scene_.by_group.clear();
    scene_.by_group.reserve(scene_.nodes.size());
    walk(0);
  }
  void walk(std::uint32_t g) {
    Group& group = scene_.groups[g];
    group.first_node = static_cast<std::uint32_t>(scene_.by_group.size());
    for (const Item& item : scene_.items_of(group))
      if (!item.is_group) scene_.by_group.push_back(item.index);
    for (const Item& item : scene_.items_of(group))
      if (item.is_group) walk(item.index);
    group.nodes = static_cast<std::uint32_t>(scene_.by_group.size()) - group.first_node;
  }

  // Every operand edge is a wire of the innermost group that holds both ends.
  void find_wires() {
    std::vector<Found> found;
    for (std::uint32_t p = 0; p < scene_.nodes.size(); ++p)
      for (const std::uint32_t q : scene_.operands_of(p)) {
        if (scene_.nodes[q].side != scene_.nodes[p].side) continue;
        Found f = meet(q, p);
        f.wire.backward = scene_.nodes[p].side == Side::backward;
        if (f.wire.from != f.wire.to) found.push_back(f);
      }
    std::vector<std::uint32_t> first(scene_.groups.size() + 1, 0);
    for (const Found& f : found) ++first[f.group + 1];
    for (std::size_t g = 0; g < scene_.groups.size(); ++g) first[g + 1] += first[g];
    std::vector<Wire> sorted(found.size());
    std::vector<std::uint32_t> next = first;
    for (const Found& f : found) sorted[next[f.group]++] = f.wire;
    scene_.wires.clear();
    for (std::size_t g = 0; g < scene_.groups.size(); ++g)
      keep_once(scene_.groups[g], std::span(sorted).subspan(first[g], first[g + 1] - first[g]));
  }

  void keep_once(Group& group, std::span<Wire> wires) {
    const auto key = [](const Wire& w) {
      return (static_cast<std::uint64_t>(w.backward) << 63) |
             (static_cast<std::uint64_t>(w.from) << 31) | w.to;
    };
    std::sort(wires.begin(), wires.end(),
              [&](const Wire& a, const Wire& b) { return key(a) < key(b); });
    group.first_wire = static_cast<std::uint32_t>(scene_.wires.size());
    for (std::size_t i = 0; i < wires.size(); ++i)
      if (i == 0 || key(wires[i]) != key(wires[i - 1])) scene_.wires.push_back(wires[i]);
    group.wires = static_cast<std::uint32_t>(scene_.wires.size()) - group.first_wire;
  }

  Found meet(std::uint32_t from, std::uint32_t to) const {
    GroupId a = scene_.nodes[from].group, b = scene_.nodes[to].group;
    Found m{0, {scene_.nodes[from].item_index, scene_.nodes[to].item_index, false}};
    const auto climb = [&](GroupId& id, std::uint32_t& item_index) {
      item_index = scene_.groups[id.index].item_index;
      id = scene_.groups[id.index].parent;
    };
    while (a != b)
      if (scene_.groups[a.index].depth >= scene_.groups[b.index].depth)
        climb(a, m.wire.from);
      else
        climb(b, m.wire.to);
    m.group = a.index;
    return m;
  }

  void counts() {
    for (Group& group : scene_.groups) {
      group.forward_nodes = group.backward_nodes = 0;
      for (const std::uint32_t p : scene_.nodes_of(group))
        ++(scene_.nodes[p].side == Side::backward ? group.backward_nodes : group.forward_nodes);
    }
  }

  // Operators, types and attributes of the items, and how they are wired: to each other by place,
  // to the outside by kind. Groups inside come first, so that theirs are known.
  void hash_group(Group& group) {
    std::uint64_t h = hash_mix(group.forward_items, group.backward_items);
    for (const Item& item : scene_.items_of(group)) {
      if (item.is_group) {
        h = hash_mix(h, scene_.groups[item.index].content);
        continue;
      }
      const SceneNode& node = scene_.nodes[item.index];
      h = hash_mix(h, node.content);
      h = hash_mix(
          h, static_cast<std::uint64_t>(node.mirrors) * 8 + static_cast<std::uint64_t>(node.side));
      if (node.side == Side::backward) h = hash_mix(h, partner_position(group, node.forward_index));
      for (const std::uint32_t q : scene_.operands_of(item.index)) h = hash_mix(h, wiring(q, node));
    }
    for (const Wire& wire : scene_.wires_of(group))
      h = hash_mix(h, (static_cast<std::uint64_t>(wire.from) << 32 | wire.to) * 2 +
                          static_cast<std::uint64_t>(wire.backward));
    group.content = h;
  }

  std::uint64_t wiring(std::uint32_t operand, const SceneNode& user) const {
    const SceneNode& node = scene_.nodes[operand];
    if (node.group == user.group) return 16 + node.item_index;
    return static_cast<std::uint64_t>(node.side) * 2 + static_cast<std::uint64_t>(node.input);
  }

  std::uint64_t partner_position(const Group& group, std::uint32_t forward_index) const {
    const std::span<const Item> items = scene_.items_of(group).first(group.forward_items);
    for (std::size_t i = 0; i < items.size(); ++i)
      if (!items[i].is_group && scene_.nodes[items[i].index].forward_index == forward_index)
        return i;
    return items.size();
  }

  void count_equals() {
    std::unordered_map<std::uint64_t, std::uint32_t> count;
    for (const Group& group : scene_.groups) ++count[group.content];
    for (Group& group : scene_.groups) group.equals = count[group.content];
  }

  Scene& scene_;
};

}  // namespace

void index_groups(Scene& scene) { Indexer(scene).run(); }

}  // namespace recut::gui::layout

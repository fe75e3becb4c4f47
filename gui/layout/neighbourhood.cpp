#include "gui/layout/group_index.h"
#include "gui/layout/scene.h"

namespace recut::gui::layout {
namespace {

constexpr std::size_t kManyUsers = 24;

struct UserLists {
  std::vector<std::uint32_t> first, users;

  explicit UserLists(const Scene& scene)
      : first(scene.nodes.size() + 1, 0), users(scene.operands.size()) {
    for (const std::uint32_t q : scene.operands) ++first[q + 1];
    for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    std::vector<std::uint32_t> next = first;
    for (std::uint32_t p = 0; p < scene.nodes.size(); ++p)
      for (const std::uint32_t q : scene.operands_of(p)) users[next[q]++] = p;
  }
  std::span<const std::uint32_t> of(std::uint32_t p) const {
    return std::span(users).subspan(first[p], first[p + 1] - first[p]);
  }
};

// A flag by position: true if the node is within `radius` steps.
std::vector<bool> within(const Scene& scene, std::uint32_t start, std::uint32_t radius) {
  const UserLists users(scene);
  std::vector<bool> in(scene.nodes.size(), false);
  std::vector<std::uint32_t> front{start}, next;
  in[start] = true;
  for (std::uint32_t p = 0; p < scene.nodes.size(); ++p)  // its partner, and it
    if (scene.nodes[p].side != Side::shelf && scene.nodes[start].side != Side::shelf &&
        scene.nodes[p].forward_index == scene.nodes[start].forward_index &&
        (scene.nodes[p].side == Side::forward || scene.nodes[p].mirrors)) {
      if (!in[p]) front.push_back(p);
      in[p] = true;
    }
  for (std::uint32_t step = 0; step < radius; ++step) {
    next.clear();
    for (const std::uint32_t p : front) {
      const bool leads_on =
          p == start || (!scene.nodes[p].input && users.of(p).size() <= kManyUsers);
      if (!leads_on) continue;
      for (const auto list : {scene.operands_of(p), users.of(p)})
        for (const std::uint32_t q : list) {
          if (!in[q]) next.push_back(q);
          in[q] = true;
        }
    }
    std::swap(front, next);
  }
  return in;
}

// Copies the nodes in `in`, with groups that still hold some.
class Cut {
 public:
  Cut(const Scene& from, const std::vector<bool>& in)
      : from_(from), new_position_(from.nodes.size(), Scene::kNone) {
    to_.position_of.assign(from.position_of.size(), Scene::kNone);
    for (std::uint32_t p = 0; p < from.nodes.size(); ++p) {
      if (!in[p]) continue;
      new_position_[p] = static_cast<std::uint32_t>(to_.nodes.size());
      to_.position_of[from.nodes[p].node.index] = new_position_[p];
      to_.nodes.push_back(from.nodes[p]);
    }
    to_.first_operand = {0};
    for (std::uint32_t p = 0; p < from.nodes.size(); ++p) {
      if (!in[p]) continue;
      for (const std::uint32_t q : from.operands_of(p))
        if (in[q]) to_.operands.push_back(new_position_[q]);
      to_.first_operand.push_back(static_cast<std::uint32_t>(to_.operands.size()));
    }
  }

  Scene run() && {
    const std::vector<std::uint32_t> kept = number_groups();
    for (std::uint32_t g = 0; g < from_.groups.size(); ++g) {
      if (kept[g] == Scene::kNone) continue;
      const Group& old = from_.groups[g];
      Group group = old;
      group.first_item = static_cast<std::uint32_t>(to_.items.size());
      const std::span<const Item> items = from_.items_of(old);
      group.forward_items = copy_items(items.first(old.forward_items), kept);
      group.backward_items = copy_items(items.subspan(old.forward_items), kept);
      to_.groups.push_back(std::move(group));
    }
    index_groups(to_);
    return std::move(to_);
  }

 private:
  std::vector<std::uint32_t> number_groups() const {
    std::vector<std::uint32_t> kept(from_.groups.size(), Scene::kNone);
    std::uint32_t next = 0;
    for (std::uint32_t g = 0; g < from_.groups.size(); ++g) {
      bool any = g == 0;
      for (const std::uint32_t p : from_.nodes_of(from_.groups[g]))
        any = any || new_position_[p] != Scene::kNone;
      if (any) kept[g] = next++;
    }
    return kept;
  }

  std::uint32_t copy_items(std::span<const Item> items, const std::vector<std::uint32_t>& kept) {
    const std::size_t before = to_.items.size();
    for (const Item& item : items) {
      const std::uint32_t index = item.is_group ? kept[item.index] : new_position_[item.index];
      if (index != Scene::kNone) to_.items.push_back({index, item.is_group});
    }
    return static_cast<std::uint32_t>(to_.items.size() - before);
  }

  const Scene& from_;
  Scene to_;
  std::vector<std::uint32_t> new_position_;
};

}  // namespace

Scene neighbourhood(const Scene& scene, NodeId node, std::uint32_t radius) {
  const std::uint32_t start = scene.find(node);
  if (start == Scene::kNone) return Cut(scene, std::vector<bool>(scene.nodes.size(), false)).run();
  return Cut(scene, within(scene, start, radius)).run();
}

}  // namespace recut::gui::layout

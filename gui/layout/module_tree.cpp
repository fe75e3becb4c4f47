#include "gui/layout/module_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "engine/support/hash.h"

namespace recut::gui::layout {
namespace {

constexpr std::size_t kMaxParts = 24;
constexpr std::size_t kMaxItems = 96;
constexpr std::size_t kFewNodes = 4;  // outside all modules: that many stay by themselves
constexpr std::string_view kBefore = "before the model", kAfter = "after the model";

// Two steps. TreeBuilder opens and closes a group for every module that the walk in program order
// enters and leaves. TreeSimplifier copies the tree without groups that add nothing, and with long
// lists in parts. A key hashes the path and the number of groups of that path before it, so that a
// group keeps its key from pass to pass.
using Parts = std::vector<std::string_view>;

std::size_t common_parts(const Parts& a, const Parts& b) {
  std::size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

// Hands out keys: the path, and how many groups of that path came before.
class Keys {
 public:
  std::uint64_t next(std::string_view path) {
    const std::uint64_t h = hash_text(0x67726f7570, path);
    return hash_mix(h, counts_[h]++);
  }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> counts_;
};

class TreeBuilder {
 public:
  TreeBuilder(const Graph& graph, const std::vector<Side>& sides) : graph_(graph), sides_(sides) {
    groups_.emplace_back();
  }

  std::vector<TreeGroup> build() {
    add_shelf();
    const std::vector<Parts> paths = paths_of_nodes();
    stack_ = {0};
    for (std::size_t i = 0; i < forward_.size(); ++i) {
      enter(paths[i]);
      groups_[stack_.back()].items.push_back({forward_[i], false});
    }
    return std::move(groups_);
  }

 private:
  void add_shelf() {
    std::vector<Item> items;
    for (std::uint32_t p = 0; p < sides_.size(); ++p)
      if (sides_[p] == Side::shelf) items.push_back({p, false});
    if (items.empty()) return;
    const std::uint32_t shelf = add_group(0, "parameters", "parameters");
    groups_[shelf].shelf = true;
    groups_[shelf].items = std::move(items);
  }

  // By forward node: its module's path, or the common prefix of its neighbours' paths.
  std::vector<Parts> paths_of_nodes() {
    std::vector<Parts> paths;
    for (std::uint32_t p = 0; p < sides_.size(); ++p) {
      if (sides_[p] != Side::forward) continue;
      forward_.push_back(p);
      // The name of an input is no call of a module.
      const NodeId id = graph_.order()[p];
      const bool given = graph_[id].op == Op::placeholder;
      paths.push_back(given ? Parts() : split_path(graph_.origin(id).module));
    }
    name_gaps(paths);
    return paths;
  }

  // Runs of nodes without a module get the common prefix of the modules on both sides, or groups of
  // their own before the first module and after the last (the loss, mostly).
  void name_gaps(std::vector<Parts>& paths) const {
    const std::size_t count = paths.size();
    std::size_t before = count;  // the last node with a module
    for (std::size_t i = 0; i < count;) {
      if (!paths[i].empty()) {
        before = i++;
        continue;
      }
      std::size_t after = i;
      while (after < count && paths[after].empty()) ++after;
      if (before < count && after < count)
        paths[i] = Parts(paths[before].begin(),
                         paths[before].begin() + static_cast<std::ptrdiff_t>(
                                                     common_parts(paths[before], paths[after])));
      else if ((before < count || after < count) && after - i > kFewNodes)
        paths[i] = {after < count ? kBefore : kAfter};
      for (std::size_t k = i + 1; k < after; ++k) paths[k] = paths[i];
      if (before == count)
        for (std::size_t k = i; k < after; ++k)
          if (graph_.op(graph_.order()[forward_[k]]).is(kInput)) paths[k].clear();
      i = after;
    }
  }

  // Closes and opens groups until the stack stands for `path`.
  void enter(const Parts& path) {
    const std::size_t keep = common_parts(open_, path);
    open_.resize(keep);
    stack_.resize(keep + 1);
    for (std::size_t i = keep; i < path.size(); ++i) {
      const TreeGroup& parent = groups_[stack_.back()];
      std::string full =
          parent.path.empty() ? std::string(path[i]) : fmt::format("{}.{}", parent.path, path[i]);
      stack_.push_back(add_group(stack_.back(), std::string(path[i]), std::move(full)));
      open_.push_back(path[i]);
    }
  }

  std::uint32_t add_group(std::uint32_t parent, std::string label, std::string path) {
    TreeGroup group;
    group.parent = parent;
    group.key = keys_.next(path);
    group.label = std::move(label);
    group.path = std::move(path);
    const auto index = static_cast<std::uint32_t>(groups_.size());
    groups_.push_back(std::move(group));
    groups_[parent].items.push_back({index, true});
    return index;
  }

  const Graph& graph_;
  const std::vector<Side>& sides_;
  Keys keys_;
  std::vector<TreeGroup> groups_;
  std::vector<std::uint32_t> forward_;  // positions
  std::vector<std::uint32_t> stack_;    // open groups, the root first
  Parts open_;                          // the path of the innermost
};

// Copies a tree without the groups that add nothing and with long lists in parts.
class TreeSimplifier {
 public:
  TreeSimplifier(std::vector<TreeGroup> from, const std::vector<std::uint32_t>& partners)
      : from_(std::move(from)), partners_(partners) {}

  std::vector<TreeGroup> run() {
    copy(0, Scene::kNone);
    return std::move(to_);
  }

 private:
  // The group that stands for `index`: through single groups.
  std::uint32_t skip_single(std::uint32_t index, std::string& label) const {
    while (from_[index].items.size() == 1 && from_[index].items[0].is_group) {
      index = from_[index].items[0].index;
      label += "." + from_[index].label;
    }
    return index;
  }

  void copy(std::uint32_t index, std::uint32_t parent) {
    std::string label = from_[index].label;
    const std::uint32_t first = index;
    if (parent != Scene::kNone) index = skip_single(index, label);
    TreeGroup group;
    group.parent = parent;
    group.label = std::move(label);
    group.path = from_[index].path;
    group.key = from_[first].key;
    group.shelf = from_[index].shelf;
    const auto made = static_cast<std::uint32_t>(to_.size());
    to_.push_back(std::move(group));
    if (parent != Scene::kNone) to_[parent].items.push_back({made, true});
    fill(made, from_[index].items, 0);
  }

  // Appends items to a group, in parts where there are many.
  void fill(std::uint32_t group, const std::vector<Item>& items, std::size_t offset) {
    if (items.size() <= kMaxItems) {
      for (const Item& item : items) add(group, item);
      return;
    }
    std::size_t size = kMaxItems / 2;  // of a part; parts of parts where there are too many
    while (items.size() / size > kMaxItems) size *= kMaxItems / 2;
    const std::size_t parts = (items.size() + size - 1) / size;
    for (std::size_t i = 0; i < parts; ++i) {
      const std::size_t begin = items.size() * i / parts, end = items.size() * (i + 1) / parts;
      TreeGroup part;
      part.parent = group;
      part.label = fmt::format("{} to {}", offset + begin + 1, offset + end);
      part.path = to_[group].path;
      part.key = hash_mix(hash_mix(to_[group].key, 0x70617274), i);
      part.shelf = to_[group].shelf;
      const auto made = static_cast<std::uint32_t>(to_.size());
      to_.push_back(std::move(part));
      to_[group].items.push_back({made, true});
      fill(made,
           {items.begin() + static_cast<std::ptrdiff_t>(begin),
            items.begin() + static_cast<std::ptrdiff_t>(end)},
           offset + begin);
    }
  }

  void add(std::uint32_t group, const Item& item) {
    if (!item.is_group) {
      to_[group].items.push_back(item);
      return;
    }
    std::string unused;
    const TreeGroup& inner = from_[skip_single(item.index, unused)];
    if (inner.items.size() == 1 && !inner.shelf && partners_[inner.items[0].index] <= 1)
      to_[group].items.push_back(inner.items[0]);
    else
      copy(item.index, group);
  }

  std::vector<TreeGroup> from_, to_;
  const std::vector<std::uint32_t>& partners_;
};

}  // namespace

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> parts;
  int brackets = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < path.size() && parts.size() + 1 < kMaxParts; ++i) {
    if (path[i] == '[') ++brackets;
    if (path[i] == ']') --brackets;
    if (path[i] != '.' || brackets > 0) continue;
    parts.push_back(path.substr(begin, i - begin));
    begin = i + 1;
  }
  if (begin < path.size()) parts.push_back(path.substr(begin));
  return parts;
}

std::vector<TreeGroup> module_tree(const Graph& graph, const std::vector<Side>& sides,
                                   const std::vector<std::uint32_t>& partners) {
  return TreeSimplifier(TreeBuilder(graph, sides).build(), partners).run();
}

}  // namespace recut::gui::layout

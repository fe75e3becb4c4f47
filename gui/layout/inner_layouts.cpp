#include "gui/layout/inner_layouts.h"

#include "engine/support/hash.h"
#include "gui/layout/former_columns.h"

namespace recut::gui::layout {
namespace {

class InnerLayouts {
 public:
  InnerLayouts(const Scene& scene, const Expansion& expansion, const Former& former,
               LayoutCache::Store& cache)
      : scene_(scene),
        expansion_(expansion),
        former_(scene, former),
        cache_(cache),
        layouts_(scene.groups.size()),
        keys_(scene.groups.size(), 0) {}

  std::optional<OpenLayouts> find(Stopper& stop) && {
    const std::vector<bool> shown = shown_groups();
    for (auto g = static_cast<std::uint32_t>(scene_.groups.size()); g-- > 0;) {
      if (stop(scene_.groups[g].items() + 1)) return std::nullopt;
      if (shown[g]) lay_out_group(g);
    }
    return std::move(layouts_);
  }

 private:
  // The groups that are open and whose outer groups all are.
  std::vector<bool> shown_groups() const {
    std::vector<bool> shown(scene_.groups.size(), false);
    for (std::uint32_t g = 0; g < shown.size(); ++g) {
      const Group& group = scene_.groups[g];
      shown[g] = expansion_.is_open(group) && (!group.parent.valid() || shown[group.parent.index]);
    }
    return shown;
  }

  void lay_out_group(std::uint32_t g) {
    const Group& group = scene_.groups[g];
    std::uint64_t key = hash_mix(group.content, group.parent.valid());
    for (const Item& item : scene_.items_of(group).first(group.forward_items))
      if (item.is_group) key = hash_mix(key, layouts_[item.index] ? keys_[item.index] : 0);
    keys_[g] = key;
    layouts_[g] = cached(group, key, {});
    const ColumnHints hints = former_.hints(group);
    if (hints.forward.empty() || former_.holds(hints, *layouts_[g])) return;
    for (const auto* list : {&hints.forward, &hints.backward})
      for (const std::uint32_t column : *list) key = hash_mix(key, column);
    keys_[g] = key;
    layouts_[g] = cached(group, key, hints);
  }

  std::shared_ptr<const GroupLayout> cached(const Group& group, std::uint64_t key,
                                            const ColumnHints& hints) {
    LayoutCache::Store::Entry& entry = cache_.entries[key];
    entry.used = cache_.call;
    if (!entry.layout)
      entry.layout =
          std::make_shared<const GroupLayout>(group_layout(scene_, group, layouts_, hints));
    return entry.layout;
  }

  const Scene& scene_;
  const Expansion& expansion_;
  FormerColumns former_;
  LayoutCache::Store& cache_;
  OpenLayouts layouts_;
  std::vector<std::uint64_t> keys_;  // by group: of its layout
};

}  // namespace

std::optional<OpenLayouts> inner_layouts(const Scene& scene, const Expansion& expansion,
                                         const LayoutOptions& options, LayoutCache::Store& cache,
                                         Stopper& stop) {
  return InnerLayouts(scene, expansion, options.former, cache).find(stop);
}

}  // namespace recut::gui::layout

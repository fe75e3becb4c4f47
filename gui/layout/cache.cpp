#include "gui/layout/group_layout.h"

namespace recut::gui::layout {

constexpr std::uint64_t kKeptCalls = 16;

void LayoutCache::Store::begin_call() {
  ++call;
  for (auto it = entries.begin(); it != entries.end();)
    it = it->second.used + kKeptCalls < call ? entries.erase(it) : std::next(it);
}

LayoutCache::LayoutCache() : store_(std::make_unique<Store>()) {}
LayoutCache::~LayoutCache() = default;
LayoutCache::LayoutCache(LayoutCache&&) noexcept = default;
std::size_t LayoutCache::size() const { return store_->entries.size(); }
LayoutCache& LayoutCache::operator=(LayoutCache&&) noexcept = default;

}  // namespace recut::gui::layout

// The layouts of all open groups, from the innermost out, through the cache.
#pragma once

#include <functional>
#include <optional>

#include "gui/layout/group_layout.h"

namespace recut::gui::layout {

// Asks `stop` now and then.
class Stopper {
 public:
  explicit Stopper(const std::function<bool()>& stop) : stop_(stop) {}
  // True once `stop` was true; `steps`: the steps since the last call.
  bool operator()(std::size_t steps) {
    steps_ += steps;
    if (stopped_ || !stop_ || steps_ < kEvery) return stopped_;
    steps_ = 0;
    return stopped_ = stop_();
  }

 private:
  static constexpr std::size_t kEvery = 2000;
  const std::function<bool()>& stop_;
  std::size_t steps_ = kEvery;  // ask at once
  bool stopped_ = false;
};

// The layouts by group; null for hidden and closed groups. Nullopt if `stop` was true.
std::optional<OpenLayouts> inner_layouts(const Scene& scene, const Expansion& expansion,
                                         const LayoutOptions& options, LayoutCache::Store& cache,
                                         Stopper& stop);

}  // namespace recut::gui::layout

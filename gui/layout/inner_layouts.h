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
  // True from the moment when `stop` said so; `steps`: how much was done since the last call.
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

// By group; null where it doesn't show or is closed. Empty where it was stopped.
std::optional<OpenLayouts> inner_layouts(const Scene& scene, const Expansion& expansion,
                                         const LayoutOptions& options, LayoutCache::Store& cache,
                                         Stopper& stop);

}  // namespace recut::gui::layout

// Allocates a few parallel lanes over intervals: for the long pieces of routes.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace recut::gui::layout {

class Lanes {
 public:
  // The first lane of `count` at `bundle` (any number that names a bundle of lanes) that nothing
  // uses between `low` and `high`; -1 where there is none. Looks back over the last 64 uses only,
  // which is enough since routes are short and come in order.
  int find(std::uint64_t bundle, float low, float high, int count) const {
    const auto it = used_.find(bundle);
    if (it == used_.end()) return 0;
    std::uint64_t taken = 0;
    const std::vector<Use>& uses = it->second;
    for (std::size_t i = uses.size(); i-- > 0 && uses.size() - i <= 64;)
      if (uses[i].low < high && low < uses[i].high) taken |= std::uint64_t{1} << uses[i].lane;
    for (int lane = 0; lane < count; ++lane)
      if ((taken >> lane & 1) == 0) return lane;
    return -1;
  }
  void take(std::uint64_t bundle, float low, float high, int lane) {
    used_[bundle].push_back({low, high, lane});
  }

 private:
  struct Use {
    float low, high;
    int lane;
  };
  std::unordered_map<std::uint64_t, std::vector<Use>> used_;  // looked up only
};

}  // namespace recut::gui::layout

#include "gui/draw/motion.h"

#include <algorithm>
#include <utility>

namespace recut::gui {
namespace {

constexpr double kSeconds = 0.15;

// The eased progress: fast at first, gentle at the end.
double eased(double share) {
  const double rest = 1 - std::clamp(share, 0.0, 1.0);
  return 1 - rest * rest * rest;
}

}  // namespace

void Motion::begin_frame(double now, bool reduced) {
  for (auto it = values_.begin(); it != values_.end();) {
    const bool gone = !std::exchange(it->second.seen, false);
    it = gone ? values_.erase(it) : std::next(it);
  }
  now_ = now;
  reduced_ = reduced;
  moving_ = false;
}

double Motion::ease(std::string_view name, double target) {
  auto it = values_.find(name);
  if (it == values_.end())
    it =
        values_.emplace(std::string(name), EasedValue{target, target, now_ - kSeconds, true}).first;
  EasedValue& value = it->second;
  value.seen = true;
  const double share = reduced_ ? 1 : (now_ - value.began) / kSeconds;
  const double at = value.from + (value.to - value.from) * eased(share);
  if (target != value.to) {
    value = {at, target, now_, true};
    moving_ = moving_ || !reduced_;
    return reduced_ ? target : at;
  }
  moving_ = moving_ || share < 1;
  return share >= 1 ? value.to : at;
}

}  // namespace recut::gui

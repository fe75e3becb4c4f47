// Animates values to their targets in 150 ms, so that the eye can follow. A value is known by its
// name.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace recut::gui {

class Motion {
 public:
  // `reduced`: values are at their targets at once.
  void begin_frame(double now, bool reduced);

  // The current value on its way to `target`; it starts there when it is first seen.
  double ease(std::string_view name, double target);
  bool moving() const { return moving_; }

 private:
  struct EasedValue {
    double from = 0, to = 0, began = 0;
    bool seen = true;
  };
  std::map<std::string, EasedValue, std::less<>> values_;
  double now_ = 0;
  bool reduced_ = false, moving_ = false;
};

}  // namespace recut::gui

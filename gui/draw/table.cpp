#include "gui/draw/table.h"

#include <algorithm>

namespace recut::gui {
namespace {

// The width of names in units; longer names are cut at their beginning.
constexpr float kMinNameWidth = 110, kMaxNameWidth = 170, kBehindName = 7;

}  // namespace

float room_for_names(const Ui& ui, float longest) {
  return std::clamp(longest + ui.px(kBehindName), ui.px(kMinNameWidth), ui.px(kMaxNameWidth));
}

std::size_t columns_beside(float names, float room, const std::vector<float>& widths) {
  float spare = room - names;
  std::size_t count = 0;
  for (; count < widths.size() && widths[count] <= spare; ++count) spare -= widths[count];
  return count;
}

}  // namespace recut::gui

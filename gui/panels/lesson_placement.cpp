#include "gui/panels/lesson_placement.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace recut::gui {
namespace {

constexpr int kCandidatesAcross = 13;  // that are tried, and as many down
constexpr double kHidden = 1e9;        // for a hidden square pixel of its target
constexpr double kNamedHidden = 1e5;
constexpr double kBusy = 6;  // pixels of distance for each hundredth of the popup that hides others

double overlap(const Rect& a, const Rect& b) {
  const Rect both = a.within(b);
  return both.empty() ? 0 : static_cast<double>(both.width()) * static_cast<double>(both.height());
}

double cost(const PopupConstraints& constraints, const Rect& popup) {
  double hidden = 0, named = 0, busy = 0;
  for (const Rect& point : constraints.points) hidden += overlap(popup, point);
  for (const Rect& rect : constraints.named) named += overlap(popup, rect);
  for (const Rect& rect : constraints.busy) busy += overlap(popup, rect);
  const double area = static_cast<double>(popup.width()) * static_cast<double>(popup.height());
  const double distance =
      std::hypot(popup.left - constraints.home.x, popup.top - constraints.home.y);
  return hidden * kHidden + named * kNamedHidden + busy / area * 100 * kBusy + distance;
}

// Candidates for the start of one side: evenly over its room, and close beside everything it must
// not hide.
std::vector<float> beginnings(float from, float spare, float size,
                              const std::vector<std::pair<float, float>>& taken) {
  std::vector<float> all;
  for (int i = 0; i < kCandidatesAcross; ++i)
    all.push_back(from + spare * static_cast<float>(i) / static_cast<float>(kCandidatesAcross - 1));
  for (const auto& [low, high] : taken)
    for (const float at : {low - size - 1, high + 1}) all.push_back(at);
  std::vector<float> made;
  for (const float at : all)
    if (at >= from && at <= from + spare) made.push_back(std::round(at));
  return made;
}

}  // namespace

ImVec2 place_lesson_popup(const PopupConstraints& constraints) {
  ImVec2 best = constraints.home;
  double least = -1;
  const auto consider = [&](ImVec2 corner) {
    const double c = cost(constraints, rect_at(corner, constraints.size));
    if (least >= 0 && c >= least) return;
    least = c;
    best = corner;
  };
  const float spare_x = std::max(0.0f, constraints.room.width() - constraints.size.x);
  const float spare_y = std::max(0.0f, constraints.room.height() - constraints.size.y);
  const Rect home = rect_at(constraints.home, constraints.size);
  if (home.left >= constraints.room.left && home.top >= constraints.room.top &&
      home.right <= constraints.room.right && home.bottom <= constraints.room.bottom)
    consider(constraints.home);
  std::vector<std::pair<float, float>> across, down;
  for (const auto* list : {&constraints.points, &constraints.named})
    for (const Rect& rect : *list) {
      across.emplace_back(rect.left, rect.right);
      down.emplace_back(rect.top, rect.bottom);
    }
  for (const float x : beginnings(constraints.room.left, spare_x, constraints.size.x, across))
    for (const float y : beginnings(constraints.room.top, spare_y, constraints.size.y, down))
      consider({x, y});
  return best;
}

}  // namespace recut::gui

#include "gui/panels/lesson_place.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace recut::gui {
namespace {

constexpr int kPlacesAcross = 13;  // that are tried, and as many down
constexpr double kHidden = 1e9;    // for a square pixel of what it points at
constexpr double kNamedHidden = 1e5;
constexpr double kBusy = 6;  // pixels of way for each hundredth of the card that hides others

double overlap(const Rect& a, const Rect& b) {
  const Rect both = a.within(b);
  return both.empty() ? 0 : static_cast<double>(both.width()) * static_cast<double>(both.height());
}

double cost(const CardSite& site, const Rect& card) {
  double hidden = 0, named = 0, busy = 0;
  for (const Rect& point : site.points) hidden += overlap(card, point);
  for (const Rect& rect : site.named) named += overlap(card, rect);
  for (const Rect& rect : site.busy) busy += overlap(card, rect);
  const double area = static_cast<double>(card.width()) * static_cast<double>(card.height());
  const double way = std::hypot(card.left - site.home.x, card.top - site.home.y);
  return hidden * kHidden + named * kNamedHidden + busy / area * 100 * kBusy + way;
}

// Candidates for the start of one side: evenly over its room, and close beside everything it must
// not hide.
std::vector<float> beginnings(float from, float spare, float size,
                              const std::vector<std::pair<float, float>>& taken) {
  std::vector<float> all;
  for (int i = 0; i < kPlacesAcross; ++i)
    all.push_back(from + spare * static_cast<float>(i) / static_cast<float>(kPlacesAcross - 1));
  for (const auto& [low, high] : taken)
    for (const float at : {low - size - 1, high + 1}) all.push_back(at);
  std::vector<float> made;
  for (const float at : all)
    if (at >= from && at <= from + spare) made.push_back(std::round(at));
  return made;
}

}  // namespace

ImVec2 place_card(const CardSite& site) {
  ImVec2 best = site.home;
  double least = -1;
  const auto consider = [&](ImVec2 corner) {
    const double c = cost(site, rect_at(corner, site.size));
    if (least >= 0 && c >= least) return;
    least = c;
    best = corner;
  };
  const float spare_x = std::max(0.0f, site.room.width() - site.size.x);
  const float spare_y = std::max(0.0f, site.room.height() - site.size.y);
  const Rect home = rect_at(site.home, site.size);
  if (home.left >= site.room.left && home.top >= site.room.top && home.right <= site.room.right &&
      home.bottom <= site.room.bottom)
    consider(site.home);
  std::vector<std::pair<float, float>> across, down;
  for (const auto* list : {&site.points, &site.named})
    for (const Rect& rect : *list) {
      across.emplace_back(rect.left, rect.right);
      down.emplace_back(rect.top, rect.bottom);
    }
  for (const float x : beginnings(site.room.left, spare_x, site.size.x, across))
    for (const float y : beginnings(site.room.top, spare_y, site.size.y, down)) consider({x, y});
  return best;
}

}  // namespace recut::gui

#include "gui/panels/lesson_place.h"

#include <cmath>

namespace recut::gui {
namespace {

constexpr int kPlacesAcross = 13;  // that are tried, and as many down
constexpr double kHidden = 1e9;    // for a square pixel of what it points at
constexpr double kBusy = 6;        // pixels of way for each hundredth of the card that hides others

double overlap(const Rect& a, const Rect& b) {
  const Rect both = a.within(b);
  return both.empty() ? 0 : static_cast<double>(both.width()) * static_cast<double>(both.height());
}

double cost(const CardSite& site, const Rect& card) {
  double hidden = 0, busy = 0;
  for (const Rect& point : site.points) hidden += overlap(card, point);
  for (const Rect& rect : site.busy) busy += overlap(card, rect);
  const double area = static_cast<double>(card.width()) * static_cast<double>(card.height());
  const double way = std::hypot(card.left - site.home.x, card.top - site.home.y);
  return hidden * kHidden + busy / area * 100 * kBusy + way;
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
  for (int i = 0; i < kPlacesAcross; ++i)
    for (int k = 0; k < kPlacesAcross; ++k) {
      constexpr float steps = kPlacesAcross - 1;
      consider({std::round(site.room.left + spare_x * static_cast<float>(i) / steps),
                std::round(site.room.top + spare_y * static_cast<float>(k) / steps)});
    }
  return best;
}

}  // namespace recut::gui

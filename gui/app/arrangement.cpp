#include "gui/app/arrangement.h"

#include <algorithm>
#include <cmath>

namespace recut::gui {
namespace {

constexpr float kArrangementTop = 40, kFingerTop = 48;       // units: the bar
constexpr float kArrangementLeast = 120;                     // units that any place keeps
constexpr float kCompactWidth = 1000, kCompactHeight = 480;  // units: the least for all places
// Units in which tables keep their names; a splitter that was moved may leave less.
constexpr float kLeastLeft = 226, kLeastRight = 416;

// Units that the words of the first screen take; the hill and the trade-off have the rest.
constexpr float kFirstHigh = 266, kFirstNarrowHigh = 470, kFirstFingers = 50;

constexpr std::string_view kUpper = "upper", kLower = "lower";

struct Shares {
  float left = 0.157f, right = 0.283f, bottom = 0.354f, bottom_right = 0.367f;
};

using ByPlace = std::array<std::vector<std::size_t>, kPlaces>;

bool is_shown(const Panel& panel, const Settings& settings, Moment moment) {
  if (panel.place == Place::overlay || panel.place == Place::card) return false;
  if (panel.place == Place::top) return true;
  const bool in_moment = panel.moment == moment || (moment == Moment::first && panel.at_first);
  return in_moment && settings.flag("panel." + std::string(panel.id), true);
}

ByPlace shown_by_place(const std::vector<Panel>& panels, const Settings& settings, Moment moment) {
  ByPlace places;
  for (std::size_t i = 0; i < panels.size(); ++i)
    if (is_shown(panels[i], settings, moment))
      places[static_cast<std::size_t>(panels[i].place)].push_back(i);
  for (auto& place : places)
    std::stable_sort(place.begin(), place.end(), [&](std::size_t a, std::size_t b) {
      return panels[a].order < panels[b].order;
    });
  return places;
}

class Arranger {
 public:
  Arranger(const std::vector<Panel>& panels, const Settings& settings, float scale, Moment moment,
           bool fingers)
      : panels_(panels),
        settings_(settings),
        scale_(scale),
        moment_(moment),
        fingers_(fingers),
        places_(shown_by_place(panels, settings, moment)) {}

  Arrangement arrange(Rect window) && {
    const bool small =
        window.width() < kCompactWidth * scale_ || window.height() < kCompactHeight * scale_;
    if (has(Place::top)) turn(Place::top, window.cut_top(std::round(bar_height(window) * scale_)));
    if (small && has(Place::centre)) {
      halves(window);
      return std::move(result_);
    }
    const Shares shares;
    if (has(Place::left))
      stack(Place::left,
            side("split.left", window, at_least(kLeastLeft, shares.left, window), false));
    const bool bottom = has(Place::bottom_left) || has(Place::bottom_right);
    if (bottom) {
      Rect strip = moment_ == Moment::first
                       ? below("split.first", window, beyond_words(kFirstHigh, window))
                       : below("split.bottom", window, shares.bottom);
      if (has(Place::bottom_left) && has(Place::bottom_right))
        turn(Place::bottom_right, side("split.bottom_right", strip, shares.bottom_right, true));
      turn(has(Place::bottom_left) ? Place::bottom_left : Place::bottom_right, strip);
    }
    if (has(Place::right))
      stack(Place::right,
            side("split.right", window, at_least(kLeastRight, shares.right, window), true));
    turn(Place::centre, window);
    return std::move(result_);
  }

 private:
  const std::vector<std::size_t>& at(Place place) const {
    return places_[static_cast<std::size_t>(place)];
  }
  bool has(Place place) const { return !at(place).empty(); }

  float bar_height(const Rect& window) const {
    const bool strip = moment_ == Moment::open && window.width() < kNarrowBar * scale_;
    return (fingers_ ? kFingerTop : kArrangementTop) + (strip ? kBarStrip : 0);
  }

  float at_least(float units, float share, const Rect& of) const {
    return std::max(share, units * scale_ / std::max(1.0f, of.width()));
  }

  // The share of a height that the first screen's words leave.
  float beyond_words(float units, const Rect& of) const {
    const float high = (units + (fingers_ ? kFirstFingers : 0)) * scale_;
    return 1 - high / std::max(1.0f, of.height());
  }

  float share_of(const std::string& setting, float otherwise, float length) const {
    const auto share = static_cast<float>(settings_.number(setting, otherwise));
    const float least = std::min(0.45f, kArrangementLeast * scale_ / std::max(1.0f, length));
    return std::clamp(share, least, 1 - least);
  }

  // Cuts a column off the left or right of `rest` and leaves a splitter of a pixel.
  Rect side(const std::string& setting, Rect& rest, float otherwise, bool right) {
    const Rect whole = rest;
    const float wide = std::round(whole.width() * share_of(setting, otherwise, whole.width()));
    const Rect column = right ? rest.cut_right(wide) : rest.cut_left(wide);
    const float line = std::max(1.0f, std::round(scale_));
    const Rect edge = right ? rest.cut_right(line) : rest.cut_left(line);
    result_.splitters.push_back(
        {setting, true, edge, right ? whole.right : whole.left, right ? whole.left : whole.right});
    return column;
  }

  Rect below(const std::string& setting, Rect& rest, float otherwise) {
    const Rect whole = rest;
    const Rect strip =
        rest.cut_bottom(std::round(whole.height() * share_of(setting, otherwise, whole.height())));
    const Rect edge = rest.cut_bottom(std::max(1.0f, std::round(scale_)));
    result_.splitters.push_back({setting, false, edge, whole.bottom, whole.top});
    return strip;
  }

  // Panels below each other, each with a splitter under it.
  void stack(Place place, Rect column) {
    const auto& panels = at(place);
    float shares = 0;
    for (const std::size_t panel : panels) shares += panels_[panel].share;
    for (std::size_t i = 0; i + 1 < panels.size(); ++i) {
      const float share = panels_[panels[i]].share;
      const Rect whole = column;
      const std::string setting = "split." + std::string(panels_[panels[i]].id);
      const float high = whole.height() * share_of(setting, share / shares, whole.height());
      result_.placed.push_back({panels[i], column.cut_top(std::round(high))});
      const Rect edge = column.cut_top(std::max(1.0f, std::round(scale_)));
      result_.splitters.push_back({setting, false, edge, whole.top, whole.bottom});
      shares -= share;
    }
    result_.placed.push_back({panels.back(), column});
  }

  // Above each other where the window is higher than wide, else beside each other. What is looked
  // at most often comes first: the graph, and the plan.
  void halves(Rect window) {
    std::vector<std::size_t> upper, lower;
    for (const Place place :
         {Place::centre, Place::bottom_right, Place::bottom_left, Place::right, Place::left})
      for (const std::size_t panel : at(place))
        (compact_part_of(panels_[panel]) == kUpper ? upper : lower).push_back(panel);
    std::stable_sort(lower.begin(), lower.end(), [&](std::size_t a, std::size_t b) {
      return panels_[a].order < panels_[b].order;
    });
    result_.compact = true;
    if (lower.empty()) return turn(Place::centre, kUpper, upper, window);
    const bool first = moment_ == Moment::first;
    if (first)  // its sentence speaks of the hill
      std::stable_partition(lower.begin(), lower.end(), [&](std::size_t panel) {
        return panels_[panel].place == Place::bottom_left;
      });
    const Rect rest = window.width() > window.height() ? side("split.beside", window, 0.45f, true)
                      : first ? below("split.first", window, beyond_words(kFirstNarrowHigh, window))
                              : below("split.below", window, 0.46f);
    turn(Place::centre, kUpper, upper, window);
    turn(Place::bottom_left, kLower, lower, rest);
  }

  void turn(Place place, const Rect& area) { turn(place, name_of(place), at(place), area); }

  // Panels that take turns: one of them has the place. The name is what the choice is kept under.
  void turn(Place place, std::string_view name, const std::vector<std::size_t>& panels,
            const Rect& area) {
    if (panels.empty()) return;
    std::size_t chosen = panels.front();
    const std::string wanted = settings_.text("turn." + std::string(name));
    for (const std::size_t panel : panels)
      if (panels_[panel].id == wanted) chosen = panel;
    result_.placed.push_back({chosen, area});
    if (panels.size() > 1) result_.turns.push_back({place, panels, chosen});
  }

  const std::vector<Panel>& panels_;
  const Settings& settings_;
  const float scale_;
  const Moment moment_;
  const bool fingers_;
  const ByPlace places_;
  Arrangement result_;
};

}  // namespace

std::string_view name_of(Moment moment) {
  constexpr std::string_view names[] = {"none", "stuck", "first", "open"};
  return names[static_cast<std::size_t>(moment)];
}

std::string_view name_of(Place place) {
  constexpr std::string_view names[kPlaces] = {"top",         "left",         "centre",  "right",
                                               "bottom_left", "bottom_right", "overlay", "card"};
  return names[static_cast<std::size_t>(place)];
}

std::string_view compact_part_of(const Panel& panel) {
  const bool upper = panel.place == Place::centre || panel.place == Place::left;
  return upper ? kUpper : kLower;
}

Arrangement arrange(const std::vector<Panel>& panels, const Settings& settings, const Rect& window,
                    float scale, Moment moment, bool fingers) {
  return Arranger(panels, settings, scale, moment, fingers).arrange(window);
}

}  // namespace recut::gui

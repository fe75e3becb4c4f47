// Lays out the panels in a window: columns and a strip are cut off its edges by shares that
// splitters change, and the rest is the centre.
//   ┌──────┬─────────────────────┬───────┐
//   │ left │ centre              │ right │
//   │      ├─────────────┬───────┴───────┤
//   │      │ bottom_left │ bottom_right  │
//   └──────┴─────────────┴───────────────┘
// The docks left and right are stacks of panels, the others tab groups. Shares are stored, not
// pixels, so they survive another window size; tables keep a minimum width. A window too small for
// all docks has two tab groups instead.
#include "gui/app/arrangement.h"

#include <algorithm>
#include <cmath>

namespace recut::gui {
namespace {

constexpr float kArrangementTop = 40, kFingerTop = 48;       // units: the bar
constexpr float kArrangementMin = 120;                       // units that any place keeps
constexpr float kCompactWidth = 1000, kCompactHeight = 480;  // units: the least for all places
// The widths, in units, from which tables show whole names; a splitter may be moved below them.
constexpr float kMinLeft = 226, kMinRight = 416;

// Units that the texts of the first screen take; the memory timeline and the trade-off have the
// rest.
constexpr float kFirstHigh = 266, kFirstNarrowHigh = 470, kFirstFingers = 50;

constexpr std::string_view kUpper = "upper", kLower = "lower";

struct Shares {
  float left = 0.157f, right = 0.283f, bottom = 0.354f, bottom_right = 0.367f;
};

using PanelsByDock = std::array<std::vector<std::size_t>, kDocks>;

bool is_shown(const Panel& panel, const Settings& settings, WindowState window_state) {
  if (panel.dock == Dock::overlay || panel.dock == Dock::floating) return false;
  if (panel.dock == Dock::top) return true;
  const bool in_window_state =
      panel.window_state == window_state || (window_state == WindowState::first && panel.at_first);
  return in_window_state && settings.flag("panel." + std::string(panel.id), true);
}

PanelsByDock shown_by_dock(const std::vector<Panel>& panels, const Settings& settings,
                           WindowState window_state) {
  PanelsByDock panels_by_dock;
  for (std::size_t i = 0; i < panels.size(); ++i)
    if (is_shown(panels[i], settings, window_state))
      panels_by_dock[static_cast<std::size_t>(panels[i].dock)].push_back(i);
  for (auto& dock : panels_by_dock)
    std::stable_sort(dock.begin(), dock.end(), [&](std::size_t a, std::size_t b) {
      return panels[a].order < panels[b].order;
    });
  return panels_by_dock;
}

class Arranger {
 public:
  Arranger(const std::vector<Panel>& panels, const Settings& settings, float scale,
           WindowState window_state, bool fingers)
      : panels_(panels),
        settings_(settings),
        scale_(scale),
        window_state_(window_state),
        fingers_(fingers),
        panels_by_dock_(shown_by_dock(panels, settings, window_state)) {}

  Arrangement arrange(Rect window) && {
    const bool small =
        window.width() < kCompactWidth * scale_ || window.height() < kCompactHeight * scale_;
    if (has(Dock::top))
      add_tab_group(Dock::top, window.cut_top(std::round(bar_height(window) * scale_)));
    if (small && has(Dock::centre)) {
      arrange_compact(window);
      return std::move(result_);
    }
    const Shares shares;
    if (has(Dock::left))
      stack(Dock::left, side("split.left", window, at_least(kMinLeft, shares.left, window), false));
    const bool bottom = has(Dock::bottom_left) || has(Dock::bottom_right);
    if (bottom) {
      Rect strip = window_state_ == WindowState::first
                       ? below("split.first", window, share_beyond(kFirstHigh, window))
                       : below("split.bottom", window, shares.bottom);
      if (has(Dock::bottom_left) && has(Dock::bottom_right))
        add_tab_group(Dock::bottom_right,
                      side("split.bottom_right", strip, shares.bottom_right, true));
      add_tab_group(has(Dock::bottom_left) ? Dock::bottom_left : Dock::bottom_right, strip);
    }
    if (has(Dock::right))
      stack(Dock::right,
            side("split.right", window, at_least(kMinRight, shares.right, window), true));
    add_tab_group(Dock::centre, window);
    return std::move(result_);
  }

 private:
  const std::vector<std::size_t>& at(Dock dock) const {
    return panels_by_dock_[static_cast<std::size_t>(dock)];
  }
  bool has(Dock dock) const { return !at(dock).empty(); }

  float bar_height(const Rect& window) const {
    const bool strip = window_state_ == WindowState::open && window.width() < kNarrowBar * scale_;
    return (fingers_ ? kFingerTop : kArrangementTop) + (strip ? kBarStrip : 0);
  }

  float at_least(float units, float share, const Rect& of) const {
    return std::max(share, units * scale_ / std::max(1.0f, of.width()));
  }

  // The share of a height that the first screen's texts leave.
  float share_beyond(float units, const Rect& of) const {
    const float high = (units + (fingers_ ? kFirstFingers : 0)) * scale_;
    return 1 - high / std::max(1.0f, of.height());
  }

  float share_of(const std::string& setting, float otherwise, float length) const {
    const auto share = static_cast<float>(settings_.number(setting, otherwise));
    const float least = std::min(0.45f, kArrangementMin * scale_ / std::max(1.0f, length));
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

  // Stacks the panels below each other, each with a splitter under it.
  void stack(Dock dock, Rect column) {
    const auto& panels = at(dock);
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

  // Above each other where the window is higher than wide, else beside each other. The most used
  // panels come first: the graph, and the plan.
  void arrange_compact(Rect window) {
    std::vector<std::size_t> upper, lower;
    for (const Dock dock :
         {Dock::centre, Dock::bottom_right, Dock::bottom_left, Dock::right, Dock::left})
      for (const std::size_t panel : at(dock))
        (compact_part_of(panels_[panel]) == kUpper ? upper : lower).push_back(panel);
    std::stable_sort(lower.begin(), lower.end(), [&](std::size_t a, std::size_t b) {
      return panels_[a].order < panels_[b].order;
    });
    result_.compact = true;
    if (lower.empty()) return add_tab_group(Dock::centre, kUpper, upper, window);
    const bool first = window_state_ == WindowState::first;
    if (first)  // its sentence describes the memory timeline
      std::stable_partition(lower.begin(), lower.end(), [&](std::size_t panel) {
        return panels_[panel].dock == Dock::bottom_left;
      });
    const Rect rest = window.width() > window.height() ? side("split.beside", window, 0.45f, true)
                      : first ? below("split.first", window, share_beyond(kFirstNarrowHigh, window))
                              : below("split.below", window, 0.46f);
    add_tab_group(Dock::centre, kUpper, upper, window);
    add_tab_group(Dock::bottom_left, kLower, lower, rest);
  }

  void add_tab_group(Dock dock, const Rect& area) {
    add_tab_group(dock, name_of(dock), at(dock), area);
  }

  // Tabs: one of the panels is shown. The choice is stored under the name.
  void add_tab_group(Dock dock, std::string_view name, const std::vector<std::size_t>& panels,
                     const Rect& area) {
    if (panels.empty()) return;
    std::size_t chosen = panels.front();
    const std::string requested = settings_.text("turn." + std::string(name));
    for (const std::size_t panel : panels)
      if (panels_[panel].id == requested) chosen = panel;
    result_.placed.push_back({chosen, area});
    if (panels.size() > 1) result_.tab_groups.push_back({dock, panels, chosen});
  }

  const std::vector<Panel>& panels_;
  const Settings& settings_;
  const float scale_;
  const WindowState window_state_;
  const bool fingers_;
  const PanelsByDock panels_by_dock_;
  Arrangement result_;
};

}  // namespace

std::string_view name_of(WindowState window_state) {
  constexpr std::string_view names[] = {"none", "stuck", "first", "open"};
  return names[static_cast<std::size_t>(window_state)];
}

std::string_view name_of(Dock dock) {
  constexpr std::string_view names[kDocks] = {"top",         "left",         "centre",  "right",
                                              "bottom_left", "bottom_right", "overlay", "floating"};
  return names[static_cast<std::size_t>(dock)];
}

std::string_view compact_part_of(const Panel& panel) {
  const bool upper = panel.dock == Dock::centre || panel.dock == Dock::left;
  return upper ? kUpper : kLower;
}

Arrangement arrange(const std::vector<Panel>& panels, const Settings& settings, const Rect& window,
                    float scale, WindowState window_state, bool fingers) {
  return Arranger(panels, settings, scale, window_state, fingers).arrange(window);
}

}  // namespace recut::gui

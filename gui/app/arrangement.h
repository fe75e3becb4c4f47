// The arrangement of the panels: docks between splitters that remember their positions.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "gui/app/panel.h"
#include "gui/app/settings.h"

namespace recut::gui {

// A line between two docks that can be dragged.
struct Splitter {
  std::string setting;   // the setting that holds its position
  bool upright = false;  // true if it is dragged left and right
  Rect line;
  float from = 0,
        to = 0;  // positions of the setting's 0 and 1, in pixels
};

struct PlacedPanel {
  std::size_t panel = 0;  // index into the panels
  Rect area;
};

// Panels that share a place as tabs; the chosen one is among the placed panels.
struct TabGroup {
  Dock dock = Dock::centre;
  std::vector<std::size_t> panels;
  std::size_t chosen = 0;  // index into the panels
};

struct Arrangement {
  std::vector<PlacedPanel> placed;
  std::vector<Splitter> splitters;
  std::vector<TabGroup> tab_groups;
  bool compact = false;  // the window is too small for several panels: all of them are tabs
};

// Units. A bar that is narrower has a strip of its own for the figures of the plan.
inline constexpr float kNarrowBar = 560, kBarStrip = 26;

// The two parts of a small window (a phone's), between which its panels are divided; by its name
// the chosen one is remembered: "turn.upper".
std::string_view compact_part_of(const Panel& panel);

// `window` in pixels at `scale`. Settings: "split.left" … shares of the window, "panel.ID" off for
// hidden panels, "turn.PLACE" the chosen one's id. A place without panels takes no room. A window
// that is too small for this has two parts, one above or beside the other, and the panels take
// turns in them. In any other window state than an open document, the bar and that state's panels
// have the window to themselves.
Arrangement arrange(const std::vector<Panel>& panels, const Settings& settings, const Rect& window,
                    float scale, WindowState window_state, bool fingers = false);

std::string_view name_of(Dock dock);

}  // namespace recut::gui

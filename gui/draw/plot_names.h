// Names of curves, areas and points in a plot, at places that are free of lines and other names.
#pragma once

#include <string>
#include <vector>

#include "gui/draw/ui.h"

namespace recut::gui {

struct PlotName {
  std::vector<std::string> variants;  // longest first: the first that finds a place is shown
  Colour colour;
  std::vector<ImVec2> anchors;  // on the named shape, best first
};

// Pixels that names leave free: points and lines as boxes.
using Occupied = std::vector<Rect>;
void occupy_line(Occupied& occupied, ImVec2 from, ImVec2 to, float width);

struct PlacedName {
  std::string text;  // "": it didn't fit
  Rect box;
  bool led = false;  // away from its anchor: a thin line leads there
  ImVec2 anchor;
};

// Finds a position for a name inside `room`: right above an anchor, below, right or left of it, or
// a bit further away with a line that leads there. It is occupied from then on.
PlacedName place_name(const Ui& ui, const PlotName& name, const Rect& room, Occupied& occupied);
void draw_name(const Ui& ui, const PlacedName& placed, Colour colour);

}  // namespace recut::gui

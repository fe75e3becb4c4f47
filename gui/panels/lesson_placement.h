// The position of the lesson's popup: it hides as little as possible, and nothing that it points
// at.
#pragma once

#include <vector>

#include "gui/draw/geometry.h"

namespace recut::gui {

struct PopupConstraints {
  Rect room;                 // the window without its bar
  ImVec2 size;               // of the popup
  ImVec2 home;               // where it stands best, all else alike: its upper left corner
  std::vector<Rect> points;  // it covers none of these, if there is a place at all
  std::vector<Rect> named;   // nor of these, if that leaves it one
  std::vector<Rect> busy;    // and as little as may be of these
};

// Its upper left corner.
ImVec2 place_lesson_popup(const PopupConstraints& constraints);

}  // namespace recut::gui

// The canvas: a WebGL 2 context, and ImGui's renderer on it.
#pragma once

#include <imgui.h>

#include "gui/backend/backend.h"

namespace recut::page {

class Screen {
 public:
  // Draws on the element `#screen`. Without a context nothing is drawn; see `works`.
  Screen();

  bool works() const { return context_ > 0; }
  void resize(gui::Extent extent) { extent_ = extent; }  // the canvas has this size already
  gui::Extent extent() const { return extent_; }

  void upload_fonts();
  void draw(const ImDrawData& data);
  void end();

  // A browser may take the context away (the graphics driver restarts, a laptop sleeps). Its
  // resources are lost with it, and made again with the next context.
  void lose() { lost_ = true; }
  void restore();

 private:
  int context_ = 0;
  gui::Extent extent_{1, 1};
  bool lost_ = false, ready_ = false;
};

}  // namespace recut::page

// A panel: one file in gui/panels that reads plain data, draws it into its rectangle, and returns
// requested commands as intents. It changes nothing itself but its own memory.
#pragma once

#include <any>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gui/app/command.h"
#include "gui/draw/motion.h"
#include "gui/draw/ui.h"
#include "gui/model/document_view.h"

namespace recut::gui {

class App;

// The dock of a panel. Panels that share `left` or `right` stand below each other, panels that
// share another dock are a tab group. An overlay lies over everything, in the middle, while
// App::overlay names it. A floating panel lies over the panels in a window of its own, if it has
// something to show.
enum class Dock : unsigned char {
  top,
  left,
  centre,
  right,
  bottom_left,
  bottom_right,
  overlay,
  floating
};
inline constexpr std::size_t kDocks = 8;

// The state of the window: no document at all, one that lacks its file or couldn't be read, the
// first screen, or an open document or on its way.
enum class WindowState : unsigned char { none, stuck, first, open };
std::string_view name_of(WindowState window_state);

struct PanelInput {
  const App& app;                // settings, jobs, the other documents
  const DocumentView* document;  // the one in front, which may still be opening; null where none is
  Rect whole;                    // all of the panel, in pixels; its background is painted already
  Rect heading;                  // the rest of the heading's row: for remarks, controls
  Rect area;                     // below the heading, inside the padding
  PanelMemory& memories;         // of this document; see memory()
  Motion& motion;

  // The document where it can be drawn: open, and with a plan.
  const DocumentView* ready() const {
    return document != nullptr && document->is_ready() && document->shown ? document : nullptr;
  }

  // A panel's state for this document from frame to frame: zoom, scroll, folds. Begins as T().
  template <class T>
  T& memory(std::string_view name) const {
    return memory_of<T>(memories, name);
  }
};

struct Panel {
  std::string_view id;     // "trade-off": also the beginning of its widgets' labels
  std::string_view title;  // "Trade-off"; "" for a panel that takes no heading
  Dock dock = Dock::centre;
  int order = 0;    // within its place
  float share = 1;  // of the height of `left` or `right`, until a splitter was moved
  void (*draw)(Ui& ui, const PanelInput& input, Intents& intents) = nullptr;
  float width = 0, height = 0;                   // of an overlay, in units
  WindowState window_state = WindowState::open;  // that the panel is shown in
  bool at_first = false;                         // also beside the first screen
};

// All panels, one a file; the build writes the list.
std::vector<Panel> registered_panels();

}  // namespace recut::gui

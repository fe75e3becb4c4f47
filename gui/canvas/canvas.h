// A canvas of a document: its requested state, the picture that is there, and the camera's
// position. Commands change the requested state; the panel notices and has the picture made by a
// job, while the old one stays. A document has one, and a second one for its comparison.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/app/app.h"
#include "gui/canvas/camera.h"
#include "gui/canvas/difference_marks.h"
#include "gui/canvas/picture.h"
#include "gui/canvas/plan_marks.h"

namespace recut::gui {

// `here`: the shown graph of the document; `there`: its baseline.
enum class Pane : unsigned char { here, there };

// The key that a picture is made for. The requested picture, the one at work and the finished one
// differ while a job runs.
struct PictureKey {
  const Document* document = nullptr;
  std::size_t pass = 0;
  Focus focus;
  int expansion = 0;  // counts changes
  bool operator==(const PictureKey& o) const {
    return document == o.document && pass == o.pass && focus == o.focus && expansion == o.expansion;
  }
};

struct Canvas {
  // Requested.
  std::optional<layout::Expansion> expansion;  // none: until the first picture is there
  int expansion_changes = 0;
  Focus focus;
  NodeId anchor;  // that keeps its place in the next picture; else the selection, or a node near it

  // There.
  SharedPicture picture;
  SharedPicture former;  // from which boxes are on their way
  layout::Point shift;   // from the coordinates of `former` to those of `picture`
  PictureKey key, key_at_work;
  JobId job = 0;
  double started_at = 0;  // by the backend's clock: when that job was begun
  std::shared_ptr<PictureCache> cache = std::make_shared<PictureCache>();
  int pictures = 0;         // made so far
  double milliseconds = 0;  // that the last one took
  Progress arrival;

  // The marks of the picture under the shown plan.
  std::shared_ptr<const PlanMarks> marks;
  int marks_made = 0, marks_picture = 0;
  SharedPlanView marks_plan;
  SharedRun marks_run;
  // The marks of the comparison, if one is shown.
  std::shared_ptr<const DifferenceMarks> differences;
  int differences_picture = 0;
  SharedComparison differences_of;

  // The camera's target, start and current position, and the size of the area it looks at.
  Camera camera, flight_from, at;
  int flights = 0;
  int moves = 0;  // flights and jumps that were asked of this canvas
  Progress flight;
  Rect area;
  float scale = 1;
  bool placed = false;  // the camera has been put somewhere

  NodeId seen;                 // the selection that the camera knows of
  NodeId own;                  // selected here: it can be seen, nothing moves
  bool wants_visible = false;  // the selection is to be brought into view
  bool wants_framing = false;  // the picture is of another neighbourhood than before
  bool fitted = false;         // the last thing done was to fit everything
  bool restored = false;       // the camera is where it was left; see saved_view.h
  int remembered = -1;         // the expansion_changes that saved_view.h knows

  View view() const { return view_from(at); }
  View view_from(const Camera& from) const {
    return View(area, from, scale, picture != nullptr ? picture->layout.bounds : layout::Rect());
  }
};

inline constexpr std::string_view kCanvasHere = "canvas", kCanvasThere = "canvas there";
// A document's canvas, made where there is none.
Canvas& canvas_of(PanelMemory& memories, Pane pane = Pane::here);

PictureKey requested_key(const ShownGraph& shown, const Canvas& canvas);

// Starts the job for the requested picture of `shown` on a canvas of the document, unless it is at
// work; a job for another picture is cancelled. `selected`: of that graph.
void start_picture(App& app, DocumentView& document, Pane pane, const ShownGraph& shown,
                   NodeId selected);
// A remark on a layout that takes long, "Laying out 64 000 nodes …"; else "".
std::string layout_text(const App& app, const Canvas& canvas);
// Takes in a picture: the anchor stays where it is on the screen.
void take_picture(Canvas& canvas, SharedPicture picture);

// Opens the groups around a node in the requested expansion; true if that changed something.
bool reveal_node(Canvas& canvas, NodeId node);
void set_open(Canvas& canvas, const layout::Group& group, bool open);

// Camera.
void fly(Canvas& canvas, const Camera& to);
void jump(Canvas& canvas, const Camera& to);  // without a way
void put(Canvas& canvas, const Camera& at);   // the same, for a canvas that follows another one
void fit_all(Canvas& canvas);
void fit_rect(Canvas& canvas, const layout::Rect& rect, double most);
// Moves the camera so that the rectangle is on the screen; not if it is already.
void bring_into_view(Canvas& canvas, const layout::Rect& rect);
constexpr double kNear = 1.2;  // zoom at which a single node is fitted
// Both columns in an area that became narrower, from the same top on; forward's, where names could
// not be read.
void fit_columns(Canvas& canvas);
// The first view: readable, from the top of the graph or of its main body.
void place_camera(Canvas& canvas);
// Frames all of a neighbourhood, or its centre if it is too large.
void frame_focus(Canvas& canvas);

// The group whose box or frame a node is in, as far as it is open; for commands on "the group".
layout::GroupId group_around(const Picture& picture, NodeId node);
// The bounds of a node's box, or of the frames of an open group.
layout::Rect bounds_of(const Picture& picture, layout::GroupId group);

}  // namespace recut::gui

// Two canvases side by side that move together: the last touched one leads, the other one follows
// so that the node in focus stands at one height in both.
#pragma once

#include "gui/canvas/canvas.h"

namespace recut::gui {

// A canvas with its graph's side of the comparison.
struct LinkedCanvas {
  Canvas& canvas;
  const ComparedSide* side = nullptr;  // null until the comparison is there
  NodeId selected;                     // of its graph
};

// The names of the panes' memory of a document: of the link, and of the pointer over the pane
// there.
inline constexpr std::string_view kLinkMemory = "pane link", kPointerThere = "graph there";

class PaneLink {
 public:
  // Call it before pictures are requested: groups open in one open in the other, and the
  // neighbourhood of the canvas here is its partner's there.
  void share_groups(Canvas& here, Canvas& there, const Comparison* comparison);

  // Chooses the leader; `selections_there`: how often something was selected there.
  void find_leader(const LinkedCanvas& here, const LinkedCanvas& there, int selections_there);
  Pane leader() const { return leader_; }

  // Moves the follower's camera after the leader's. `pointer`: the point in focus, if it is over
  // the leader. `name`: of the follower's animation.
  void follow(const LinkedCanvas& leader, const LinkedCanvas& follower, ImVec2 pointer,
              Motion& motion, const std::string& name);

 private:
  struct Seen {
    int moves = 0, expansion = 0, pictures = 0;
    NodeId selected;
  };
  bool is_stale(const LinkedCanvas& leader, const LinkedCanvas& follower);

  Pane leader_ = Pane::here;
  Seen here_, there_;
  int selections_there_ = 0;
  Focus focus_;
  // The state of the two canvases that `offset_` was computed for.
  int flights_ = -1, moves_ = -1, leader_pictures_ = -1, follower_pictures_ = -1;
  Pane offset_leader_ = Pane::here;
  NodeId selected_;
  const ComparedSide* side_ = nullptr;
  std::optional<layout::Point> offset_;  // from the leader's places to the follower's; none: the
                                         // two have no node in common
};

// The offset from the leader's layout to the follower's, for nodes near a point of the screen. If
// the selected node is visible, it is that node's, which then stands side by side with its partner.
// Else it is the height of the nearest common node: the channels stay in place.
std::optional<layout::Point> offset_between(const LinkedCanvas& leader, const Canvas& follower,
                                            ImVec2 near);

}  // namespace recut::gui

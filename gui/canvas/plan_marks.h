// A plan's facts about the boxes and rungs of a picture: roles, bytes, numbers of repeated runs.
#pragma once

#include <cstdint>
#include <vector>

#include "gui/app/run_view.h"
#include "gui/canvas/picture.h"
#include "gui/model/plan_view.h"

namespace recut::gui {

struct BoxMarks {
  Role role = Role::freed;  // of a node
  bool known = false;       // false: the plan's graph hasn't got the node
  bool result = false;      // returned: a diamond, beside the mark of its role
  // Counts of a closed group: storages that are kept for backward; of its other nodes without
  // views, the recomputed ones and the rest.
  std::uint32_t saved = 0, again = 0, others = 0;
  std::uint32_t changed = 0;  // nodes in it that the pass before hasn't got
  std::int64_t bytes = 0;     // of the kept storages
  double ms = 0;  // measured, of the kernels that compute it; of a group: the slowest in it
};

// The marks of an edge from forward to backward.
struct RungMarks {
  // The counts of storages, not of their views; both 0: the rung carries inputs.
  std::uint32_t saved = 0, again = 0;
  std::int64_t bytes = 0;  // of those kept for backward
};

struct PlanMarks {
  std::vector<BoxMarks> boxes;   // by box
  std::vector<BoxMarks> bands;   // by band, of everything in it
  std::vector<RungMarks> rungs;  // by edge; of other edges nothing
  double most_ms = 0;            // that any node has; 0: no run is shown
};

// `plan` may be null, and `run`, which is of this plan. Linear in nodes and edges.
PlanMarks marks_of(const Picture& picture, const PlanView* plan, const RunReport* run = nullptr);

}  // namespace recut::gui

// The results of a comparison for the boxes and bands of a picture.
#pragma once

#include <vector>

#include "gui/canvas/picture.h"
#include "gui/model/comparison.h"

namespace recut::gui {

// Nodes of a box, or of a band at any depth.
struct BoxDifferences {
  std::uint32_t only = 0, rewritten = 0, fate = 0;
  std::optional<Role> other_role;  // of one node: its role in the other plan, where that differs

  std::uint32_t all() const { return only + rewritten + fate; }
};

struct DifferenceMarks {
  std::vector<BoxDifferences> boxes;  // by box
  std::vector<BoxDifferences> bands;  // by band
};

// `side`: of the graph that the picture shows. Linear in nodes.
DifferenceMarks differences_of(const Picture& picture, const ComparedSide& side);

}  // namespace recut::gui

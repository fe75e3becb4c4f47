#include "gui/pictures/label_space.h"

#include <algorithm>
#include <cmath>

namespace recut::gui {
namespace {

constexpr double kLabelRow = 32;
int label_row(double y) { return static_cast<int>(std::floor(y / kLabelRow)); }

}  // namespace

void LabelSpace::take(const LabelBox& box) {
  for (int row = label_row(box.top); row <= label_row(box.bottom); ++row) rows_[row].push_back(box);
}

bool LabelSpace::is_free(const LabelBox& box) const {
  for (int row = label_row(box.top); row <= label_row(box.bottom); ++row) {
    const auto found = rows_.find(row);
    if (found == rows_.end()) continue;
    if (std::any_of(found->second.begin(), found->second.end(),
                    [&](const LabelBox& taken) { return taken.meets(box); }))
      return false;
  }
  return true;
}

}  // namespace recut::gui

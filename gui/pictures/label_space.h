// Keeps account of where a picture's words stand, so that no two of them meet.
#pragma once

#include <unordered_map>
#include <vector>

namespace recut::gui {

struct LabelBox {
  double left = 0, top = 0, right = 0, bottom = 0;
  bool meets(const LabelBox& o) const {
    return left < o.right && o.left < right && top < o.bottom && o.top < bottom;
  }
  bool inside(const LabelBox& o) const {
    return left >= o.left && right <= o.right && top >= o.top && bottom <= o.bottom;
  }
};

class LabelSpace {
 public:
  void take(const LabelBox& box);
  bool is_free(const LabelBox& box) const;

 private:
  // By rows of the picture; asked only, never walked.
  std::unordered_map<int, std::vector<LabelBox>> rows_;
};

}  // namespace recut::gui

// A uniform grid over rectangles, which finds the ones that touch a rectangle or lie under a point.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gui/layout/geometry.h"

namespace recut::gui::layout {

class Grid {
 public:
  Grid() = default;
  // Cells are at least as large as a typical rectangle, and about as many as rectangles.
  Grid(std::span<const Rect> rects, const Rect& bounds);

  // Calls visit(index) for every rectangle that may touch `area`, some of them twice, until it
  // returns true; then returns true itself.
  template <class Visit>
  bool any(const Rect& area, Visit&& visit) const {
    if (columns_ == 0) return false;
    const Cells cells = cells_of(area);
    for (std::uint32_t y = cells.top; y <= cells.bottom; ++y)
      for (std::uint32_t x = cells.left; x <= cells.right; ++x) {
        const std::uint32_t cell = y * columns_ + x;
        for (std::uint32_t i = first_[cell]; i < first_[cell + 1]; ++i)
          if (visit(entries_[i])) return true;
      }
    return false;
  }

 private:
  struct Cells {
    std::uint32_t left, top, right, bottom;
  };
  Cells cells_of(const Rect& area) const;

  float left_ = 0, top_ = 0;
  float cell_width_ = 1, cell_height_ = 1;
  std::uint32_t columns_ = 0, rows_ = 0;
  std::vector<std::uint32_t> first_;    // by cell, one more than cells
  std::vector<std::uint32_t> entries_;  // ascending within a cell
};

}  // namespace recut::gui::layout

#include "gui/layout/grid.h"

#include <cmath>

namespace recut::gui::layout {

Grid::Grid(std::span<const Rect> rects, const Rect& bounds) : left_(bounds.left), top_(bounds.top) {
  // Long thin pictures are common, so cells have a fixed width, and a height at which there are as
  // many cells as boxes.
  const auto count = static_cast<float>(rects.size() + 1);
  cell_width_ = std::max(256.0f, bounds.width() / 256);
  columns_ = 1 + static_cast<std::uint32_t>(bounds.width() / cell_width_);
  cell_height_ = std::max(64.0f, bounds.height() * static_cast<float>(columns_) / (2 * count));
  rows_ = 1 + static_cast<std::uint32_t>(bounds.height() / cell_height_);
  first_.assign(std::size_t{columns_} * rows_ + 1, 0);
  const auto each = [&](auto&& visit) {
    for (std::uint32_t i = 0; i < rects.size(); ++i) {
      const Cells cells = cells_of(rects[i]);
      for (std::uint32_t y = cells.top; y <= cells.bottom; ++y)
        for (std::uint32_t x = cells.left; x <= cells.right; ++x) visit(y * columns_ + x, i);
    }
  };
  each([&](std::uint32_t cell, std::uint32_t) { ++first_[cell + 1]; });
  for (std::size_t c = 1; c < first_.size(); ++c) first_[c] += first_[c - 1];
  entries_.resize(first_.back());
  std::vector<std::uint32_t> next = first_;
  each([&](std::uint32_t cell, std::uint32_t i) { entries_[next[cell]++] = i; });
}

Grid::Cells Grid::cells_of(const Rect& area) const {
  const auto cell = [](float at, float size, std::uint32_t count) {
    const float c = std::floor(at / size);
    if (!(c > 0)) return std::uint32_t{0};
    return c >= static_cast<float>(count) ? count - 1 : static_cast<std::uint32_t>(c);
  };
  return {cell(area.left - left_, cell_width_, columns_),
          cell(area.top - top_, cell_height_, rows_),
          cell(area.right - left_, cell_width_, columns_),
          cell(area.bottom - top_, cell_height_, rows_)};
}

}  // namespace recut::gui::layout

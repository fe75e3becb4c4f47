// Columns of the boxes on one side of a group: paths of boxes keep to a column.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace recut::gui::layout {

struct ColumnTask {
  std::vector<std::uint32_t> row;     // by box
  std::vector<std::uint32_t> weight;  // by box: the heaviest path is the spine
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;  // upper box, lower box; sorted
  std::vector<std::uint32_t> hint;  // by box: the column to keep, or kNoHint; empty: none has any

  static constexpr std::uint32_t kNoHint = 0xffffffff;
};

// Boxes of one path stand straight above each other.
struct Path {
  std::uint32_t first = 0, last = 0;  // rows
  std::uint32_t column = 0;           // 0: the spine
  std::vector<std::uint32_t> boxes;   // from top to bottom
};

// Every box is on one path. No two boxes of a column share a row, and a path's column is free
// between its boxes. By column, then from top to bottom.
std::vector<Path> paths_of(const ColumnTask& task);

}  // namespace recut::gui::layout

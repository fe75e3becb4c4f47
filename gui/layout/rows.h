// Rows of one group's items: longest paths, forward and backward at once.
#pragma once

#include <cstdint>
#include <vector>

#include "gui/layout/scene.h"

namespace recut::gui::layout {

// The items of a group as vertices: a backward node that mirrors a forward one is one vertex with
// it, a group is one vertex for both its sides.
struct Vertices {
  std::vector<std::uint32_t> vertex_of;  // by item: the item that stands for it
  std::vector<std::uint32_t> beside;     // by backward item: the forward item that it belongs to
  // Vertices from top to bottom, such that every wire agrees: forward ones in program order, the
  // backward nodes of each around it in the order reverse to the program's.
  std::vector<std::uint32_t> order;
  std::vector<bool> above;     // by backward item: stands before its partner's mirror in `order`
  std::vector<bool> floating;  // by item: hangs off the side, goes to its users
};
Vertices vertices_of(const Scene& scene, const Group& group);

// By item. Every wire leads from an upper row to a lower one (backward ones the other way); there
// are no empty rows, and at most `kMaxInRow` boxes on each side of a row.
constexpr std::uint32_t kMaxInRow = 6;
std::vector<std::uint32_t> rows_of(const Scene& scene, const Group& group,
                                   const Vertices& vertices);

}  // namespace recut::gui::layout

// The difference of two sequences: a shortest edit script after Myers, "An O(ND) Difference
// Algorithm and Its Variations" (Algorithmica 1, 1986), in linear space.
//
// Where a part has no short script, it is halved at the point that was reached furthest instead of
// in the middle of a shortest one: the script is still right, and no longer surely the shortest.
// That bounds the time by O((N + M)·kMaxSteps); 20,000 lines without one in common order take some
// milliseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace recut::gui {

enum class Edit : std::uint8_t { same, removed, added };

// `count` elements from `before` and `after` on. Removed lines stand before added ones in their
// place; runs follow each other without a gap and never two of one kind.
struct EditRun {
  Edit edit = Edit::same;
  std::size_t before = 0, after = 0;  // positions where the run begins
  std::size_t count = 0;
  friend bool operator==(const EditRun&, const EditRun&) = default;
};

// Equal numbers are equal elements.
std::vector<EditRun> difference(std::span<const std::uint32_t> before,
                                std::span<const std::uint32_t> after);

std::vector<EditRun> line_difference(std::span<const std::string_view> before,
                                     std::span<const std::string_view> after);

}  // namespace recut::gui

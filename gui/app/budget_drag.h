// A budget's line that is dragged along an axis of bytes: in the memory timeline and in the
// trade-off.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace recut::gui {

// The distance from the line, in units, at which the pointer still drags it.
inline constexpr float kBudgetReach = 9;

// State that is kept from frame to frame.
struct BudgetDrag {
  float grabbed = 0;  // pixels from the pointer to the line
  bool dragging = false;
};

// The positions of the pointer and the line along the axis, in pixels, and the meaning of a pixel
// there.
struct BudgetAxis {
  float pointer = 0, line = 0;
  float reach = 0;  // pixels
  std::function<double(float)> bytes_at;
};

// The budget in bytes at the pointer, a multiple of the largest power of two that is no more than a
// pixel. None while the pointer doesn't hold the line, rests, or stands at the current budget.
std::optional<std::int64_t> dragged_budget(BudgetDrag& drag, bool held, const BudgetAxis& axis,
                                           std::int64_t budget);

}  // namespace recut::gui

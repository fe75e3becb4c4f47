#include "gui/app/budget_drag.h"

#include <algorithm>
#include <cmath>

namespace recut::gui {
namespace {

// The bytes to a multiple of which a dragged budget is rounded: at most a pixel's.
std::int64_t budget_grain(const BudgetAxis& axis) {
  const double pixel = std::abs(axis.bytes_at(axis.pointer + 1) - axis.bytes_at(axis.pointer));
  std::int64_t bytes = 1;
  while (static_cast<double>(bytes) * 2 <= pixel) bytes *= 2;
  return bytes;
}

}  // namespace

std::optional<std::int64_t> dragged_budget(BudgetDrag& drag, bool held, const BudgetAxis& axis,
                                           std::int64_t budget) {
  if (!held) {
    drag.dragging = false;
    return std::nullopt;
  }
  if (!drag.dragging) {
    const float away = axis.line - axis.pointer;
    drag.grabbed = std::abs(away) <= axis.reach ? away : 0;
    drag.dragging = true;
    if (drag.grabbed != 0) return std::nullopt;
  }
  const float at = axis.pointer + drag.grabbed;
  if (std::abs(axis.line - at) < 0.5f) return std::nullopt;
  const std::int64_t grain = budget_grain(axis);
  const auto grains = std::llround(std::max(0.0, axis.bytes_at(at)) / static_cast<double>(grain));
  const std::int64_t requested = std::max<std::int64_t>(1, grains) * grain;
  return requested != budget ? std::optional(requested) : std::nullopt;
}

}  // namespace recut::gui

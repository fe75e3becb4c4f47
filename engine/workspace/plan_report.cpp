#include "engine/workspace/plan_report.h"

#include <algorithm>

#include "engine/support/units.h"

namespace recut {

const char* name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::saved:
      return "saved";
    case MemoryKind::recomputed:
      return "recomputed";
    case MemoryKind::result:
      return "result or gradient";
    case MemoryKind::temporary:
      return "temporary";
  }
  return "";
}

std::int64_t arena_over_budget(std::int64_t arena_bytes, std::int64_t peak_bytes,
                               std::int64_t budget_bytes) {
  if (budget_bytes == 0 || peak_bytes > budget_bytes) return 0;
  return std::max<std::int64_t>(0, arena_bytes - budget_bytes);
}

std::string arena_note(std::int64_t arena_bytes, std::int64_t peak_bytes,
                       std::int64_t budget_bytes) {
  const std::int64_t beyond = arena_over_budget(arena_bytes, peak_bytes, budget_bytes);
  if (beyond > 0) return format_bytes(beyond) + " above the budget";
  const std::int64_t more = arena_bytes - peak_bytes;
  return more >= 0 ? format_bytes(more) + " above the peak"
                   : format_bytes(-more) + " below the peak";
}

std::string step_label(const PlanReport& report, std::size_t step) {
  const auto at = static_cast<std::int64_t>(step);
  const bool backward = at >= report.forward_runs;
  return (backward ? "backward " : "forward ") +
         format_count(at - (backward ? report.forward_runs : 0) + 1);
}

}  // namespace recut

#include "gui/model/role_totals.h"

#include <fmt/core.h>

#include "engine/support/units.h"

namespace recut::gui {
RoleTotals totals_of(const PlanView& plan) {
  RoleTotals totals;
  for (const StorageInstance& instance : plan.replay().instances) {
    // Values of backward aren't counted: the plan has no choice about them.
    if (instance.kind == InstanceClass::backward_temporary) continue;
    RoleTotal& total = totals[static_cast<std::size_t>(role_of(instance.kind))];
    ++total.count;
    total.bytes += instance.bytes;
  }
  const PlanReport& report = plan.report();
  totals[static_cast<std::size_t>(Role::saved)] = {report.saved_storages(), report.saved_bytes};
  totals[static_cast<std::size_t>(Role::recomputed)].count = report.recomputed_runs;
  return totals;
}

std::string counted_text(Role role, std::int64_t count) {
  return fmt::format("{} {}{}", format_count(count), role == Role::recomputed ? "run" : "storage",
                     count == 1 ? "" : "s");
}

}  // namespace recut::gui

// A plan's storages by role, counted here for every panel that says how many.
#pragma once

#include <array>

#include "gui/model/plan_view.h"

namespace recut::gui {

struct RoleTotal {
  std::int64_t count = 0;  // storages; of the role `recomputed`: runs
  std::int64_t bytes = 0;
};
using RoleTotals = std::array<RoleTotal, kRoles>;  // by role
RoleTotals totals_of(const PlanView& plan);

// The count of a role: "14 storages", "1 run".
std::string counted_text(Role role, std::int64_t count);

}  // namespace recut::gui

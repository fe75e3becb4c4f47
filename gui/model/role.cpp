#include "gui/model/role.h"

namespace recut::gui {

std::string_view name_of(Role role) {
  constexpr std::string_view names[kRoles] = {"saved",  "recomputed", "freed",
                                              "result", "input",      "inside"};
  return names[static_cast<std::size_t>(role)];
}

std::string_view name_of(BudgetAnswer answer) {
  constexpr std::string_view names[] = {"held", "open", "refused"};
  return names[static_cast<std::size_t>(answer)];
}

}  // namespace recut::gui

// The outcomes for values and budgets, in the terms that all panels have for them.
#pragma once

#include <cstddef>
#include <string_view>

namespace recut::gui {

// The role of a value in a plan. Each has a colour and a shape. `inside`: it has no storage, since
// the kernel that makes it hands it on by itself.
enum class Role : unsigned char { saved, recomputed, freed, result, input, inside };
inline constexpr std::size_t kRoles = 6;
std::string_view name_of(Role role);

// The answer to a budget, as far as it is known. `open`: no plan that is known holds it,
// and the one made for it isn't there yet.
enum class BudgetAnswer : unsigned char { held, open, refused };
std::string_view name_of(BudgetAnswer answer);

}  // namespace recut::gui

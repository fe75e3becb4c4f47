// What becomes of values and budgets, in the words that all panels have for it.
#pragma once

#include <cstddef>
#include <string_view>

namespace recut::gui {

// What becomes of a value, or what stands for it. Each has a colour and a shape. `inside`: it has
// no storage, since the kernel that makes it hands it on by itself.
enum class Role : unsigned char { saved, recomputed, freed, result, input, inside };
inline constexpr std::size_t kRoles = 6;
std::string_view name_of(Role role);

// Whether the budget can be held, as far as that is known. `open`: no plan that is known holds it,
// and the one made for it isn't there yet.
enum class BudgetAnswer : unsigned char { held, open, refused };
std::string_view name_of(BudgetAnswer answer);

}  // namespace recut::gui

// Copies of variants for which memory may run out.
//
// A copy constructor that throws leaves a variant without a value. libstdc++ 12 takes a variant of
// strings, vectors and trivially copyable types for one that always has a value. It destroys the
// copy that wasn't made as if it held one, and jumps to any place. Neither of these two lets it.
#pragma once

#include <type_traits>
#include <variant>

namespace recut {

// An alternative that nothing ever holds: with it among them, libstdc++ looks.
struct MayBeValueless {
  MayBeValueless() = delete;
  MayBeValueless(const MayBeValueless&) noexcept {}
  MayBeValueless& operator=(const MayBeValueless&) noexcept { return *this; }
};

// A copy whose value is made in place, so that a throw destroys nothing. For variants whose
// alternatives are visited one by one and can't have another.
template <class... T>
std::variant<T...> copy_of(const std::variant<T...>& from) {
  return std::visit(
      [](const auto& value) {
        return std::variant<T...>(std::in_place_type<std::decay_t<decltype(value)>>, value);
      },
      from);
}

}  // namespace recut

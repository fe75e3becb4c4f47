// Exception-safe copies of variants when memory runs out.
//
// A copy constructor that throws leaves a variant without a value. libstdc++ 12 takes a variant of
// strings, vectors and trivially copyable types for one that always has a value. It then destroys
// the unfinished copy as if it held a value, and jumps to a wild address. Both helpers below
// prevent that.
#pragma once

#include <type_traits>
#include <variant>

namespace recut {

// An alternative that is never held: with it, libstdc++ checks for valueless variants.
struct MayBeValueless {
  MayBeValueless() = delete;
  MayBeValueless(const MayBeValueless&) noexcept {}
  MayBeValueless& operator=(const MayBeValueless&) noexcept { return *this; }
};

// Copies a variant by constructing the value in place, so that a throw destroys nothing. For
// variants whose visitors can't take another alternative.
template <class... T>
std::variant<T...> copy_of(const std::variant<T...>& from) {
  return std::visit(
      [](const auto& value) {
        return std::variant<T...>(std::in_place_type<std::decay_t<decltype(value)>>, value);
      },
      from);
}

}  // namespace recut

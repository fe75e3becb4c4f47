// std::bit_cast, which Emscripten's library (libc++ 13) doesn't have yet.
#pragma once

#include <type_traits>

namespace recut {

// The value of type To whose bytes are those of `from`.
template <typename To, typename From>
constexpr To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  static_assert(std::is_trivially_copyable_v<To> && std::is_trivially_copyable_v<From>);
  return __builtin_bit_cast(To, from);
}

}  // namespace recut

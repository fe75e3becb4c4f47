// Checks of our own reasoning. A failed check is a bug of Recut, never of the user: what a user can
// cause is a Diagnostic (result.h).
#pragma once

namespace recut::detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line, const char* why);
}

#define RECUT_CHECK(condition, why)                                       \
  do {                                                                    \
    if (!(condition)) [[unlikely]]                                        \
      ::recut::detail::check_failed(#condition, __FILE__, __LINE__, why); \
  } while (false)

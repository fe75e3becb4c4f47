// Checks of our own reasoning. A failed check is a bug of Recut, never of the user: what a user can
// cause is a Diagnostic (result.h).
#pragma once

#include <string>

namespace recut {

// What a failed check throws while a ThrowingChecks lives.
struct CheckFailure {
  std::string words;
};

// A failed check ends the program. While one of these lives, those of its thread throw CheckFailure
// instead: for a host that has to live on where Recut can't, as the C library's does. What was
// being worked on is then of no use but to be destroyed.
class ThrowingChecks {
 public:
  ThrowingChecks();
  ~ThrowingChecks();
  ThrowingChecks(const ThrowingChecks&) = delete;
  ThrowingChecks& operator=(const ThrowingChecks&) = delete;

 private:
  bool before_;
};

}  // namespace recut

namespace recut::detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line, const char* why);
}

#define RECUT_CHECK(condition, why)                                       \
  do {                                                                    \
    if (!(condition)) [[unlikely]]                                        \
      ::recut::detail::check_failed(#condition, __FILE__, __LINE__, why); \
  } while (false)

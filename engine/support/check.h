// Assertions of internal invariants, active in every build. A failed check is a bug in Recut;
// errors that a user can cause are Diagnostics (result.h).
#pragma once

#include <string>

namespace recut {

// Thrown by a failed check while a ThrowingChecks lives.
struct CheckFailure {
  std::string message;
};

// A failed check aborts the program. While a ThrowingChecks lives, failed checks of its thread
// throw CheckFailure instead: a host of the C library must survive them. The objects being worked
// on are then invalid and may only be destroyed.
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

#include "engine/support/check.h"

#include <cstdio>
#include <cstdlib>

namespace recut {
namespace {

thread_local bool throwing = false;

}  // namespace

ThrowingChecks::ThrowingChecks() : before_(throwing) { throwing = true; }
ThrowingChecks::~ThrowingChecks() { throwing = before_; }

namespace detail {

void check_failed(const char* condition, const char* file, int line, const char* why) {
  if (throwing)
    throw CheckFailure{std::string("internal error at ") + file + ":" + std::to_string(line) +
                       ": " + why + " (" + condition + ")"};
  std::fprintf(stderr, "recut: internal error at %s:%d: %s (%s)\n", file, line, why, condition);
  std::abort();
}

}  // namespace detail
}  // namespace recut

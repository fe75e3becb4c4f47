#include "engine/support/check.h"

#include <cstdio>
#include <cstdlib>

namespace recut::detail {

void check_failed(const char* condition, const char* file, int line, const char* why) {
  std::fprintf(stderr, "recut: internal error at %s:%d: %s (%s)\n", file, line, why, condition);
  std::abort();
}

}  // namespace recut::detail

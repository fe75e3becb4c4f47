// The `recut` command.

#include <fmt/core.h>

#include "engine/support/version.h"

int main() {
  fmt::print("recut {}\n", recut::version());
  return 0;
}

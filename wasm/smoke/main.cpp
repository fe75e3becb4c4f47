// The engine as node runs it: what the browser will run, without a browser.

#include <fmt/core.h>

#include "engine/support/version.h"

int main() {
  fmt::print("recut {}\n", recut::version());
  return 0;
}

// The `recut` command.

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "native/cli.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const bool colours = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  const recut::native::Console console{std::cout, std::cerr, colours, isatty(STDERR_FILENO) != 0};
  const int code =
      recut::native::run_command(std::vector<std::string>(argv + 1, argv + argc), console);
  std::cout.flush();
  if (std::cout) return code;
  std::cerr << "recut: can't write the result: standard output is closed or full\n";
  return recut::native::kBadInput;
}
